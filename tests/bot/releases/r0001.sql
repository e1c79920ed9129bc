PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES('0001');
CREATE TABLE learners (
	id VARCHAR(12) NOT NULL, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_learners PRIMARY KEY (id)
);
INSERT INTO learners VALUES('lqna3ms4v0ps','2026-11-30 01:36:39.164381');
INSERT INTO learners VALUES('n12ttriok89i','2026-11-30 01:36:42.843686');
INSERT INTO learners VALUES('e06c14b16c7a','2026-11-29 12:00:00.000000');
CREATE TABLE accounts (
	id VARCHAR(12) NOT NULL, 
	learner VARCHAR(12) NOT NULL, 
	platform VARCHAR(16) NOT NULL, 
	external VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_accounts PRIMARY KEY (id), 
	CONSTRAINT fk_accounts_learner_learners FOREIGN KEY(learner) REFERENCES learners (id) ON DELETE CASCADE, 
	CONSTRAINT uq_accounts_platform_external UNIQUE (platform, external)
);
INSERT INTO accounts VALUES('cv3pj3tfdsl5','lqna3ms4v0ps','shell','ali');
INSERT INTO accounts VALUES('vpi5xemowo16','n12ttriok89i','shell','mona');
INSERT INTO accounts VALUES('c8bc583a7713','e06c14b16c7a','web','sara');
CREATE TABLE chats (
	id VARCHAR(12) NOT NULL, 
	learner VARCHAR(12) NOT NULL, 
	platform VARCHAR(16) NOT NULL, 
	external VARCHAR(64) NOT NULL, 
	session TEXT NOT NULL, 
	checking BOOLEAN NOT NULL, 
	revision INTEGER NOT NULL, 
	last_number INTEGER NOT NULL, 
	last_change INTEGER NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_chats PRIMARY KEY (id), 
	CONSTRAINT fk_chats_learner_learners FOREIGN KEY(learner) REFERENCES learners (id) ON DELETE CASCADE, 
	CONSTRAINT uq_chats_platform_external UNIQUE (platform, external)
);
INSERT INTO chats VALUES('714m6uzm4yuo','lqna3ms4v0ps','shell','ali','{"version": 1, "learner": "21924b3dd0556641307f1907997409aa", "course_hash": "8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e", "place": {"lesson": "vectorise", "part": "needs", "section": ""}, "series": {"kind": "myths", "lesson": "vectorise", "ahead": ["myth-list-beats-array", "myth-always-faster", "myth-stride-free", "myth-comprehension", "myth-out-always"], "done": 1, "credit": 0.0, "missed": ["myth-np-vectorize"]}, "asked": "t1g0gqh8p1fn", "pending": null, "running": [], "last_run": "", "greeted": true, "visited": ["vectorise.needs"], "aside": [{"kind": "check", "lesson": "vectorise", "ahead": ["q-why-slow", "q-no-help", "q-mismatch", "q-broadcast-copy", "q-sequential", "q-shape", "q-list-times", "q-squares", "q-view", "q-megabytes", "q-amdahl", "q-line-share", "q-compiled-loop", "q-product-first", "q-steps-of-times", "q-make-column", "q-write-table"], "done": 0, "credit": 0.0, "missed": []}], "expects": "", "hinted": 0, "tried": [], "played": [], "marked": [], "panel": "", "earned": 0.0, "told": null}',0,8,11,11,'2026-11-30 01:36:39.458413');
INSERT INTO chats VALUES('mn1iig7yz2o1','n12ttriok89i','shell','mona','{"version": 1, "learner": "cd7b0c50482774009acbb158c22f78d4", "course_hash": "8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e", "place": null, "series": {"kind": "cards", "lesson": "vectorise", "ahead": ["card-dot", "card-boxed", "card-loop-over-array", "card-broadcast-rule", "card-none-axis", "card-np-vectorize", "card-mask", "card-strides", "card-out", "card-small", "card-amdahl"], "done": 1, "credit": 1.0, "missed": []}, "asked": "ykpjwndojx9t", "pending": null, "running": [], "last_run": "", "greeted": true, "visited": [], "aside": [], "expects": "", "hinted": 0, "tried": [], "played": [], "marked": [], "panel": "", "earned": 0.0, "told": null}',0,4,4,6,'2026-11-30 01:36:42.991144');
INSERT INTO chats VALUES('3d498e3e9f78','e06c14b16c7a','web','sara','{"version": 1, "learner": "4c89298e0bd782ad8e1db8f5bcf59ce4", "course_hash": "", "place": null, "series": null, "asked": "", "pending": null, "running": [], "last_run": "", "greeted": false, "visited": [], "aside": [], "expects": "", "hinted": 0, "tried": [], "played": [], "marked": [], "panel": "", "earned": 0.0, "told": null}',0,1,1,1,'2026-11-29 12:00:00.000000');
CREATE TABLE asks (
	id VARCHAR(12) NOT NULL, 
	chat VARCHAR(12) NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	lesson VARCHAR(24) NOT NULL, 
	item VARCHAR(40) NOT NULL, 
	rev INTEGER NOT NULL, 
	options TEXT NOT NULL, 
	course_hash VARCHAR(64) NOT NULL, 
	tries INTEGER NOT NULL, 
	answer TEXT NOT NULL, 
	credit FLOAT, 
	misconception VARCHAR(40) NOT NULL, 
	asked_at DATETIME NOT NULL, 
	answered_at DATETIME, 
	CONSTRAINT pk_asks PRIMARY KEY (id), 
	CONSTRAINT ck_asks_credit CHECK (credit IS NULL OR (credit >= 0 AND credit <= 1)), 
	CONSTRAINT fk_asks_chat_chats FOREIGN KEY(chat) REFERENCES chats (id) ON DELETE CASCADE
);
INSERT INTO asks VALUES('2d2w2phujfxd','714m6uzm4yuo','item','vectorise','q-why-slow',1,'["memory-full", "slow-cpu-math", "per-element", "one-core"]','8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e',1,'memory-full',NULL,'','2026-11-30 01:36:39.350178',NULL);
INSERT INTO asks VALUES('t1g0gqh8p1fn','714m6uzm4yuo','myth','vectorise','myth-np-vectorize',1,'["fact", "myth", "depends"]','8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e',0,'fact',0.0,'','2026-11-30 01:36:39.421850','2026-11-30 01:36:39.458413');
INSERT INTO asks VALUES('72y2za6r1kvm','mn1iig7yz2o1','card','vectorise','card-core',1,'["_knew", "_missed"]','8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e',0,'_knew',1.0,'','2026-11-30 01:36:42.931414','2026-11-30 01:36:42.991144');
INSERT INTO asks VALUES('ykpjwndojx9t','mn1iig7yz2o1','card','vectorise','card-dot',1,'["_knew", "_missed"]','8022c9bd726574a334e546824f9574b909c621c03403052b5982cf6adf60ad7e',0,'',NULL,'','2026-11-30 01:36:42.991144',NULL);
CREATE TABLE events (
	chat VARCHAR(12) NOT NULL, 
	"key" VARCHAR(80) NOT NULL, 
	taken_at DATETIME NOT NULL, 
	CONSTRAINT pk_events PRIMARY KEY (chat, "key"), 
	CONSTRAINT fk_events_chat_chats FOREIGN KEY(chat) REFERENCES chats (id) ON DELETE CASCADE
);
INSERT INTO events VALUES('714m6uzm4yuo','opened','2026-11-30 01:36:39.228167');
INSERT INTO events VALUES('mn1iig7yz2o1','opened','2026-11-30 01:36:42.897232');
INSERT INTO events VALUES('3d498e3e9f78','k1','2026-11-29 12:00:00.000000');
CREATE TABLE replies (
	chat VARCHAR(12) NOT NULL, 
	number INTEGER NOT NULL, 
	slot VARCHAR(40), 
	blocks TEXT NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	change INTEGER NOT NULL, 
	said_at DATETIME NOT NULL, 
	CONSTRAINT pk_replies PRIMARY KEY (chat, number), 
	CONSTRAINT fk_replies_chat_chats FOREIGN KEY(chat) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_replies_chat_slot UNIQUE (chat, slot)
);
INSERT INTO replies VALUES('714m6uzm4yuo',1,NULL,'{"blocks":[{"spans":[{"text":"أهلًا وسهلًا. هذا ","kind":"text"},{"text":"تسريع","kind":"strong"},{"text":": دروس قصيرة في تسريع كود ","kind":"text"},{"text":"numpy","kind":"code"},{"text":" و","kind":"text"},{"text":"PyTorch","kind":"code"},{"text":"، وكل رقم فيها يُقاس هنا من جديد بضغطة واحدة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"في كل درس: فكرة، وأقسام قصيرة، ومثال يُشغَّل ويُقاس، وأسئلة مع سبب كل جواب، وبطاقات للمراجعة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"ويمكن في أي وقت لصق كود Python هنا أو إرسال ملف ","kind":"text"},{"text":".py","kind":"code"},{"text":": يُشغَّل في بيئة معزولة ويُقاس زمنه.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"بدء الدرس الأول","payload":"1:go:vectorise.needs:"},{"label":"خريطة الدروس","payload":"1:cmd:map:"},{"label":"المساعدة","payload":"1:cmd:help:"}],"columns":1,"kind":"choices"}]}','said',1,'2026-11-30 01:36:39.228167');
INSERT INTO replies VALUES('714m6uzm4yuo',2,NULL,'{"blocks":[{"spans":[{"text":"خريطة الدروس","kind":"text"}],"kind":"heading"},{"items":[[{"text":"الحساب على المصفوفة كاملة","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"15","kind":"number"}],[{"text":"16 بتًّا بدل 32، ما الثمن؟","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"17","kind":"number"}],[{"text":"التدريب بدقة مختلطة","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"17","kind":"number"}],[{"text":"القياس قبل التصديق","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"17","kind":"number"}],[{"text":"الترجمة بسطر واحد","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"19","kind":"number"}],[{"text":"دمج العمليات، من أين تأتي السرعة؟","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"19","kind":"number"}],[{"text":"كسر الرسم وإعادة الترجمة","kind":"text"},{"text":" — ","kind":"text"},{"text":"0","kind":"number"},{"text":" من ","kind":"text"},{"text":"18","kind":"number"}]],"numbered":true,"kind":"bullets"},{"spans":[{"text":"رقم الدرس أو اسمه يفتحه.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"الحساب على المصفوفة كاملة","payload":"1:go:vectorise.outline:"},{"label":"16 بتًّا بدل 32، ما الثمن؟","payload":"1:go:sixteen-bits.outline:"},{"label":"التدريب بدقة مختلطة","payload":"1:go:mixed-precision.outline:"},{"label":"القياس قبل التصديق","payload":"1:go:measure.outline:"},{"label":"الترجمة بسطر واحد","payload":"1:go:compile.outline:"},{"label":"دمج العمليات، من أين تأتي السرعة؟","payload":"1:go:fusion.outline:"},{"label":"كسر الرسم وإعادة الترجمة","payload":"1:go:recompiles.outline:"}],"columns":1,"kind":"choices"}]}','said',2,'2026-11-30 01:36:39.262330');
INSERT INTO replies VALUES('714m6uzm4yuo',3,NULL,'{"blocks":[{"spans":[{"text":"الحساب على المصفوفة كاملة","kind":"text"}],"kind":"heading"},{"spans":[{"text":"أول خطوة في تسريع كود عددي هي إخراج الحساب الثقيل من حلقات بايثون. في هذا الدرس تُقاس الحلقة وعبارة المصفوفة جنبًا إلى جنب، ويتضح سبب الفرق بينهما، ومتى لا يظهر هذا الفرق.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"مدة القراءة: نحو ","kind":"text"},{"text":"35","kind":"number"},{"text":" دقيقة","kind":"text"}],"kind":"paragraph"},{"items":[[{"text":"ما يلزم قبل البدء","kind":"text"}],[{"text":"الفكرة الأساسية","kind":"text"}],[{"text":"طريقان إلى الفكرة نفسها","kind":"text"}],[{"text":"ثلاث طرق ونتيجة واحدة","kind":"text"}],[{"text":"لماذا الحلقة بطيئة؟","kind":"text"}],[{"text":"البث بين شكلين مختلفين","kind":"text"}],[{"text":"ما يشبه الحل وليس حلًا","kind":"text"}],[{"text":"الشرط من غير حلقة","kind":"text"}],[{"text":"النوع وترتيب الذاكرة","kind":"text"}],[{"text":"المصفوفات المؤقتة","kind":"text"}],[{"text":"متى لا ينفع؟","kind":"text"}],[{"text":"كيف يعمل ذلك خطوة خطوة","kind":"text"}],[{"text":"مثال محلول","kind":"text"}],[{"text":"استكشاف بلا كود","kind":"text"}],[{"text":"ما بعد القراءة","kind":"text"}]],"numbered":true,"kind":"bullets"},{"spans":[{"text":"رقم المحطة ينقل إليها مباشرة.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"بدء القراءة","payload":"1:go:vectorise.needs:"},{"label":"خرافة أم حقيقة","payload":"1:myths:vectorise:"},{"label":"الاختبار","payload":"1:quiz:vectorise:"},{"label":"البطاقات","payload":"1:cards:vectorise:"},{"label":"تمرين: طاقة القيم الموجبة","payload":"1:task:vectorise:positive-energy"},{"label":"تمرين: جدول المسافات","payload":"1:task:vectorise:distance-table"}],"columns":1,"kind":"choices"}]}','said',3,'2026-11-30 01:36:39.294888');
INSERT INTO replies VALUES('714m6uzm4yuo',4,NULL,'{"blocks":[{"spans":[{"text":"الحساب على المصفوفة كاملة","kind":"text"},{"text":" — ","kind":"text"},{"text":"1","kind":"number"},{"text":" من ","kind":"text"},{"text":"15","kind":"number"}],"kind":"heading"},{"spans":[{"text":"يكفي للبدء في هذا الدرس:","kind":"text"}],"kind":"paragraph"},{"items":[[{"text":"قراءة كود بايثون قصير: متغيرات، وحلقة ","kind":"text"},{"text":"for","kind":"code"},{"text":"، ودالة ","kind":"text"},{"text":"def","kind":"code"},{"text":".","kind":"text"}],[{"text":"معرفة أن ","kind":"text"},{"text":"numpy","kind":"code"},{"text":" مكتبة للمصفوفات العددية، وأن ","kind":"text"},{"text":"np.array","kind":"code"},{"text":" ينشئ مصفوفة. لا يلزم أكثر من هذا.","kind":"text"}]],"numbered":false,"kind":"bullets"},{"choices":[{"label":"التالي","payload":"1:go:vectorise.idea:"},{"label":"محطات الدرس","payload":"1:go:vectorise.outline:"}],"columns":2,"kind":"choices"}]}','said',4,'2026-11-30 01:36:39.322177');
INSERT INTO replies VALUES('714m6uzm4yuo',5,NULL,'{"blocks":[{"spans":[{"text":"اختبار «الحساب على المصفوفة كاملة»: ","kind":"text"},{"text":"17","kind":"number"},{"text":" سؤالًا. الخطأ لا يُنقص شيئًا، و«لا أعرف» جواب مقبول دائمًا.","kind":"text"}],"kind":"paragraph"}]}','said',5,'2026-11-30 01:36:39.350178');
INSERT INTO replies VALUES('714m6uzm4yuo',6,NULL,'{"blocks":[{"spans":[{"text":"السؤال ","kind":"text"},{"text":"1","kind":"number"},{"text":" من ","kind":"text"},{"text":"17","kind":"number"}],"kind":"heading"},{"spans":[{"text":"ما السبب الرئيس لبطء حلقة ","kind":"text"},{"text":"for","kind":"code"},{"text":" على مليون عدد في بايثون؟","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"امتلاء الذاكرة بالأعداد","payload":"1:ans:2d2w2phujfxd:memory-full"},{"label":"بطء الضرب والجمع في المعالج","payload":"1:ans:2d2w2phujfxd:slow-cpu-math"},{"label":"كلفة المفسّر والكائنات عند كل عنصر","payload":"1:ans:2d2w2phujfxd:per-element"},{"label":"استعمال نواة واحدة من المعالج","payload":"1:ans:2d2w2phujfxd:one-core"},{"label":"تلميح","payload":"1:ans:2d2w2phujfxd:_hint"},{"label":"لا أعرف","payload":"1:ans:2d2w2phujfxd:_skip"}],"columns":1,"kind":"choices"}]}','said',6,'2026-11-30 01:36:39.350178');
INSERT INTO replies VALUES('714m6uzm4yuo',7,NULL,'{"blocks":[{"spans":[{"text":"ليس بعد.","kind":"strong"}],"kind":"paragraph"},{"spans":[{"text":"مليون عدد تأخذ ميغابايتات قليلة. الذاكرة لا تمتلئ، لكن الكائنات المتفرقة أبطأ قراءة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"تلميح ","kind":"text"},{"text":"1","kind":"number"},{"text":" من ","kind":"text"},{"text":"3","kind":"number"},{"text":":","kind":"text"},{"text":" ","kind":"text"},{"text":"ما الذي يتكرر مليون مرة في الحلقة ولا يتكرر في عبارة المصفوفة؟","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"محاولة ثانية:","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"بطء الضرب والجمع في المعالج","payload":"1:ans:2d2w2phujfxd:slow-cpu-math"},{"label":"كلفة المفسّر والكائنات عند كل عنصر","payload":"1:ans:2d2w2phujfxd:per-element"},{"label":"استعمال نواة واحدة من المعالج","payload":"1:ans:2d2w2phujfxd:one-core"},{"label":"تلميح","payload":"1:ans:2d2w2phujfxd:_hint"},{"label":"لا أعرف","payload":"1:ans:2d2w2phujfxd:_skip"}],"columns":1,"kind":"choices"}]}','said',7,'2026-11-30 01:36:39.386072');
INSERT INTO replies VALUES('714m6uzm4yuo',8,NULL,'{"blocks":[{"spans":[{"text":"خرافة أم حقيقة؟ من «الحساب على المصفوفة كاملة»: تصويت أولًا، ثم تُجرى التجربة على هذا الجهاز ويحكم القياس.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"الادعاء ","kind":"text"},{"text":"1","kind":"number"},{"text":" من ","kind":"text"},{"text":"6","kind":"number"}],"kind":"heading"},{"spans":[{"text":"تحويل الدالة بواسطة ","kind":"text"},{"text":"np.vectorize","kind":"code"},{"text":" يجعلها أسرع من الحلقة العادية.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"حقيقة","payload":"1:ans:t1g0gqh8p1fn:fact"},{"label":"خرافة","payload":"1:ans:t1g0gqh8p1fn:myth"},{"label":"بحسب الجهاز","payload":"1:ans:t1g0gqh8p1fn:depends"}],"columns":3,"kind":"choices"}]}','said',8,'2026-11-30 01:36:39.421850');
INSERT INTO replies VALUES('714m6uzm4yuo',9,NULL,'{"blocks":[{"spans":[{"text":"سُجّل التصويت: حقيقة.","kind":"text"}],"kind":"paragraph"}]}','said',9,'2026-11-30 01:36:39.458413');
INSERT INTO replies VALUES('714m6uzm4yuo',10,NULL,'{"blocks":[{"spans":[{"text":"لا يوجد مُشغِّل متصل الآن، فتعذّر التشغيل. لم يُفقد شيء: القراءة والأسئلة تعمل، ويمكن إعادة المحاولة بعد قليل.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"إعادة المحاولة","payload":"1:ex:vectorise:false-friends"}],"columns":1,"kind":"choices"}]}','said',10,'2026-11-30 01:36:39.458413');
INSERT INTO replies VALUES('714m6uzm4yuo',11,NULL,'{"blocks":[{"spans":[{"text":"وحكم الدرس: ","kind":"text"},{"text":"خرافة","kind":"strong"},{"text":".","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"تصويتك: حقيقة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"السبب","kind":"strong"}],"kind":"paragraph"},{"spans":[{"text":"تستدعي ","kind":"text"},{"text":"np.vectorize","kind":"code"},{"text":" دالة بايثون مرة لكل عنصر، وتغلّف كل عنصر في كائن قبل الاستدعاء. فالكلفة التي يُراد التخلص منها باقية كلها. الذي يسرّع هو أن تتسلم الدالة المصفوفة مرة واحدة، كما في الخلية ","kind":"text"},{"text":"array","kind":"code"},{"text":".","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"الادعاء التالي","payload":"1:myths:vectorise:"},{"label":"محطات الدرس","payload":"1:go:vectorise.outline:"}],"columns":1,"kind":"choices"}]}','said',11,'2026-11-30 01:36:39.458413');
INSERT INTO replies VALUES('mn1iig7yz2o1',1,NULL,'{"blocks":[{"spans":[{"text":"أهلًا وسهلًا. هذا ","kind":"text"},{"text":"تسريع","kind":"strong"},{"text":": دروس قصيرة في تسريع كود ","kind":"text"},{"text":"numpy","kind":"code"},{"text":" و","kind":"text"},{"text":"PyTorch","kind":"code"},{"text":"، وكل رقم فيها يُقاس هنا من جديد بضغطة واحدة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"في كل درس: فكرة، وأقسام قصيرة، ومثال يُشغَّل ويُقاس، وأسئلة مع سبب كل جواب، وبطاقات للمراجعة.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"ويمكن في أي وقت لصق كود Python هنا أو إرسال ملف ","kind":"text"},{"text":".py","kind":"code"},{"text":": يُشغَّل في بيئة معزولة ويُقاس زمنه.","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"بدء الدرس الأول","payload":"1:go:vectorise.needs:"},{"label":"خريطة الدروس","payload":"1:cmd:map:"},{"label":"المساعدة","payload":"1:cmd:help:"}],"columns":1,"kind":"choices"}]}','said',1,'2026-11-30 01:36:42.897232');
INSERT INTO replies VALUES('mn1iig7yz2o1',2,NULL,'{"blocks":[{"spans":[{"text":"12","kind":"number"},{"text":" بطاقة من «الحساب على المصفوفة كاملة». الجواب في الذهن أولًا، ثم إظهاره.","kind":"text"}],"kind":"paragraph"}]}','said',2,'2026-11-30 01:36:42.931414');
INSERT INTO replies VALUES('mn1iig7yz2o1',3,'card:72y2za6r1kvm','{"blocks":[{"spans":[{"text":"ما الكلفة التي تزيلها عبارة المصفوفة؟","kind":"strong"}],"kind":"paragraph"},{"spans":[{"text":"كلفة المفسّر عند كل عنصر: تعليمات الحلقة، وفحص النوع، وإنشاء كائن للنتيجة. تُدفع مرة واحدة للمصفوفة كلها.","kind":"text"}],"kind":"paragraph"},{"spans":[{"text":"✓ معروفة","kind":"text"}],"kind":"paragraph"}]}','edited',5,'2026-11-30 01:36:42.931414');
INSERT INTO replies VALUES('mn1iig7yz2o1',4,'card:ykpjwndojx9t','{"blocks":[{"spans":[{"text":"البطاقة ","kind":"text"},{"text":"2","kind":"number"},{"text":" من ","kind":"text"},{"text":"12","kind":"number"}],"kind":"heading"},{"spans":[{"text":"لماذا تسبق ","kind":"text"},{"text":"x @ x","kind":"code"},{"text":" عادةً العبارة ","kind":"text"},{"text":"(x * x).sum()","kind":"code"},{"text":"؟","kind":"text"}],"kind":"paragraph"},{"choices":[{"label":"إظهار الجواب","payload":"1:ans:ykpjwndojx9t:_flip"}],"columns":1,"kind":"choices"}]}','said',6,'2026-11-30 01:36:42.991144');
INSERT INTO replies VALUES('3d498e3e9f78',1,'run:r1','{"blocks":[{"spans":[{"text":"يجري","kind":"text"}],"kind":"paragraph"}]}','said',1,'2026-11-29 12:00:00.000000');
CREATE TABLE runs (
	id VARCHAR(12) NOT NULL, 
	chat VARCHAR(12) NOT NULL, 
	slot VARCHAR(40) NOT NULL, 
	job TEXT NOT NULL, 
	result TEXT, 
	told BOOLEAN NOT NULL, 
	submitted_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_runs PRIMARY KEY (id), 
	CONSTRAINT fk_runs_chat_chats FOREIGN KEY(chat) REFERENCES chats (id) ON DELETE CASCADE
);
INSERT INTO runs VALUES('r00000000001','3d498e3e9f78','run:r1','{"id": "r00000000001", "kind": "run", "source": "print(1)", "learner": "h", "device": "cpu", "budget": "default", "limits": {"start_s": 10.0, "import_s": 60.0, "run_s": 10.0, "compile_s": 60.0, "warmup_s": 20.0, "check_s": 20.0, "measure_s": 20.0, "cpu_s": 600.0, "memory_bytes": 2147483648, "processes": 128, "disk_bytes": 268435456, "inodes": 10000, "output_kept_bytes": 65536, "output_ceiling_bytes": 16777216, "files": 16, "file_bytes": 4194304}, "filename": "code.py", "exercise": null}',NULL,0,'2026-11-29 12:00:00.000000',NULL);
CREATE INDEX ix_accounts_learner ON accounts (learner);
CREATE INDEX ix_chats_checking ON chats (checking) WHERE checking;
CREATE INDEX ix_chats_learner ON chats (learner);
CREATE INDEX ix_asks_chat ON asks (chat);
CREATE INDEX ix_asks_item ON asks (item, kind);
CREATE INDEX ix_events_taken_at ON events (taken_at);
CREATE INDEX ix_replies_chat_change ON replies (chat, change);
CREATE INDEX ix_runs_chat ON runs (chat);
CREATE INDEX ix_runs_told ON runs (told, submitted_at);
COMMIT;
