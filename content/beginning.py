"""A new lesson's folder, complete from the first minute: every part is there, and each text says what to write in it.

Law: what the template writes fits the schema and passes every rule, so that a lesson can be previewed while it is being
written; what is still the template's is named by `unwritten`, and a course with such texts does not pass its check.
"""

import re
from collections.abc import Iterator
from pathlib import Path as Folder

from content import schema, strictyaml
from content.drafts import LESSON_FILE, strings
from content.faults import Fault, spelled
from content.folders import UnreadableError, files_under, read_inside, text_of

MARK = "يُكتب هنا:"
"""What begins a text that nobody has written yet; behind it stands what to write."""

_SLUG = re.compile(r"[a-z][a-z0-9-]{0,23}")

FILES = {
    "first.py": "import numpy as np\n\nx = np.arange(4)\nprint(int(x.sum()))\n",
    "first.txt": "6\n",
    "compared.py": (
        '# %% setup\nimport numpy as np\n\nn = 1000\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\n'
        'x = make(np.random.default_rng(0), n)["x"]\n\n# %% loop\ntotal = 0.0\nfor v in x:\n    total += v\ntotal\n\n'
        "# %% array\nx.sum()\n"
    ),
    "task/starter.py": (
        'import numpy as np\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\ndef solve(x):\n'
        "    total = 0.0\n    for v in x:\n        total += v * v\n    return np.float64(total)\n"
    ),
    "task/reference.py": (
        'import numpy as np\n\n\ndef make(rng, n):\n    return {"x": rng.normal(size=n)}\n\n\n'
        "def solve(x):\n    return np.sum(x * x)\n"
    ),
    "quiz/printed.py": "import numpy as np\n\nprint(np.ones((2, 3)).size)\n",
}
"""The template's code: it runs as it stands, and is to be replaced by the lesson's own."""


class RefusedError(Exception):
    """A lesson cannot be begun: what is wrong, and what would be right."""


def begin(root: Folder, slug: str) -> list[str]:
    """Write a new lesson's folder and name it in `course.yaml`; gives the files, relative to `root`.

    Raises RefusedError, having changed nothing, for a name that is none or is taken.
    """
    if not _SLUG.fullmatch(slug):
        wrong = f"{slug!r} is no lesson's name; write 1 to 24 small Latin letters, digits and hyphens, a letter first"
        raise RefusedError(wrong)
    folder = root / "lessons" / slug
    if folder.exists():
        wrong = f"the folder lessons/{slug} is there already; choose another name, or delete it first"
        raise RefusedError(wrong)
    listed = root / "course.yaml"
    try:
        order = listed.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        wrong = f"{listed} cannot be read ({error}); give --root the folder with course.yaml"
        raise RefusedError(wrong) from None
    if not re.search(r"^lessons:[ ]*$", order, re.MULTILINE):
        wrong = "course.yaml does not list its lessons one a line, each after a dash; write them so"
        raise RefusedError(wrong)
    written = {LESSON_FILE: lesson_text(slug), **FILES}
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    listed.write_text(f"{order}\n  - {slug}\n", encoding="utf-8")
    return [f"lessons/{slug}/{name}" for name in written]


def unwritten(root: Folder) -> list[Fault]:
    """Name every text and every code file under `root` that is still the template's, with its line."""
    found: list[Fault] = []
    for path in sorted((root / "lessons").glob(f"*/{LESSON_FILE}")):
        slug = path.parent.name
        file = f"lessons/{slug}/{LESSON_FILE}"
        try:
            document = strictyaml.read(read_inside(path.parent, LESSON_FILE, strictyaml.SIZE_LIMIT), file)
        except UnreadableError:
            continue  # said by the check
        found += _texts(document)
        found += _code(path.parent, slug)
    return found


def _texts(document: strictyaml.Document) -> Iterator[Fault]:
    for path, text in strings(document.data):
        if text.startswith(MARK):
            wanted = text.removeprefix(MARK).strip()
            yield Fault(document.file, document.line(path), spelled(path), "still to write", wanted)


def _code(folder: Folder, slug: str) -> Iterator[Fault]:
    for name in files_under(folder):
        if name in FILES and name.endswith(".py"):
            try:
                same = text_of(read_inside(folder, name, len(FILES[name].encode())), name) == FILES[name]
            except UnreadableError:
                continue  # longer than the template's, so it is another
            if same:
                yield Fault(f"lessons/{slug}/{name}", 1, "", "still the template's code", "write the lesson's own")


# --- the template ---------------------------------------------------------------------------------------------------


def lesson_text(slug: str) -> str:
    """Write the template of `lesson.yaml`, with ids that begin with the lesson's name."""
    short = slug[:20].rstrip("-")
    topics = ", ".join(topic.value for topic in schema.Topic)
    return _TEMPLATE.replace("@SLUG", slug).replace("@ID", short).replace("@TOPICS", topics).replace("@W", MARK)


_TEMPLATE = """\
# yaml-language-server: $schema=../../schema.json
# Every text that begins with «@W» says what belongs there; replace the whole text. Ids stay as they are.
# Topics: @TOPICS
slug: @SLUG
title: "@W عنوان الدرس"
summary: "@W سطران يقولان ماذا يتعلم القارئ وماذا يرى بعينه"
minutes: 30

needs:
  - "@W ما يلزم معرفته قبل الدرس، نقطة في كل سطر"

core_idea: "@W الفكرة كلها في ثلاث جمل"

two_ways:
  analogy: "@W تشبيه من حياة الناس للفكرة نفسها"
  mechanism: "@W كيف يحدث ذلك في الجهاز حقيقة"

sections:
  - id: first
    title: "@W عنوان القسم الأول"
    topic: vectorization
    blocks:
      - kind: text
        text: "@W فقرة قصيرة تمهّد للكود"
      - kind: code
        file: first.py
        expect: first.txt
      - kind: example
        example: @ID-first
      - kind: text
        text: "@W ما الذي ظهر في المخرجات، ولماذا"
    questions:
      - "@W سؤال بالفصحى يجيب عنه هذا القسم"
      - "@W السؤال نفسه بلهجة من اللهجات"
    source: https://numpy.org/doc/stable/
  - id: second
    title: "@W عنوان القسم الثاني"
    topic: vectorization
    blocks:
      - kind: text
        text: "@W فقرة تقول ما الذي يُقاس، بلا رقم"
      - kind: code
        file: compared.py
      - kind: example
        example: @ID-compared
    questions:
      - "@W سؤال ثان بالفصحى"
      - "@W سؤال ثان بلهجة أخرى"

steps:
  - "@W الخطوة الأولى من خطوات العمل"
  - "@W الخطوة الثانية من خطوات العمل"

worked:
  intro: "@W المسألة، وما المطلوب فيها"
  file: first.py
  steps:
    - "@W أول خطوة في الحل"
    - "@W آخر خطوة في الحل"
  example: @ID-first

explorer:
  kind: amdahl
  intro: "@W ماذا يجرّب القارئ هنا بلا كود"

examples:
  - id: @ID-first
    title: "@W اسم المثال الأول"
    file: first.py
    kind: run
    expected: {file: first.txt}
  - id: @ID-compared
    title: "@W اسم المقارنة"
    file: compared.py
    kind: time

myths:
  - id: myth-@ID-one
    topic: vectorization
    claim: "@W ادعاء خاطئ يصدّقه كثيرون"
    truth: myth
    experiment: @ID-compared
    finding: {name: array, against: loop, holds_when: [slower, same]}
    explanation: "@W لماذا هو خاطئ"
  - id: myth-@ID-two
    topic: vectorization
    claim: "@W ادعاء صحيح يستغربه كثيرون"
    truth: fact
    experiment: @ID-compared
    finding: {name: array, against: loop, holds_when: [faster]}
    explanation: "@W لماذا هو صحيح"
  - id: myth-@ID-three
    topic: vectorization
    claim: "@W ادعاء يصح على جهاز دون آخر"
    truth: depends
    experiment: @ID-compared
    finding: {name: array, against: loop, holds_when: [faster]}
    explanation: "@W بماذا يتعلق الحكم"

exercises:
  - id: @ID-task
    topic: vectorization
    title: "@W اسم التمرين"
    task: "@W ماذا تفعل الدالة، وما المطلوب تحسينه فيها"
    starter: task/starter.py
    reference: task/reference.py
    checks:
      - {n: 1, seed: 1, rel: 1e-9}
      - {n: 1000, seed: 2, rel: 1e-9}
    ratio: 4.0
    hints:
      - "@W التلميح الأول: المفهوم"
      - "@W التلميح الثاني: موضع الخطأ الشائع"
      - "@W التلميح الثالث: مثال مشابه محلول"

cards:
  - id: card-@ID-1
    topic: vectorization
    front: "@W سؤال البطاقة الأولى"
    back: "@W جوابها في جملة"
  - id: card-@ID-2
    topic: vectorization
    front: "@W سؤال البطاقة الثانية"
    back: "@W جوابها في جملة"
  - id: card-@ID-3
    topic: vectorization
    front: "@W سؤال البطاقة الثالثة"
    back: "@W جوابها في جملة"
  - id: card-@ID-4
    topic: vectorization
    front: "@W سؤال البطاقة الرابعة"
    back: "@W جوابها في جملة"
  - id: card-@ID-5
    topic: vectorization
    front: "@W سؤال البطاقة الخامسة"
    back: "@W جوابها في جملة"
  - id: card-@ID-6
    topic: vectorization
    front: "@W سؤال البطاقة السادسة"
    back: "@W جوابها في جملة"

check:
  - id: q-@ID-1
    kind: single
    topic: vectorization
    question: "@W سؤال له جواب صحيح واحد"
    options:
      - id: right
        text: "@W الجواب الصحيح"
        right: true
        feedback: "@W لماذا هو صحيح"
      - id: close
        text: "@W جواب يقع فيه من أخطأ خطأ شائعًا"
        feedback: "@W ما الخطأ فيه، وكيف يُرى"
      - id: far
        text: "@W جواب خاطئ آخر"
        feedback: "@W ما الذي فات من اختاره"
    hints:
      - "@W تلميح إلى المفهوم"
    explanation: "@W الجواب وسببه"
  - id: q-@ID-2
    kind: predict
    topic: vectorization
    question: "@W ماذا يطبع هذا الملف؟"
    code: quiz/printed.py
    answer: "6"
    explanation: "@W من أين جاء ما طُبع"
  - id: q-@ID-3
    kind: true_false
    topic: vectorization
    question: "@W عبارة صحيحة أو خاطئة"
    answer: true
    to_true:
      feedback: "@W ما يُقال لمن أصاب"
    to_false:
      feedback: "@W ما يُقال لمن أخطأ"
    explanation: "@W السبب"
  - id: q-@ID-4
    kind: number
    topic: vectorization
    question: "@W سؤال جوابه عدد"
    value: 8
    within: 0.1
    explanation: "@W كيف يُحسب"
  - id: q-@ID-5
    kind: order
    topic: vectorization
    question: "@W ما ترتيب هذه الخطوات؟"
    steps:
      - id: one
        text: "@W الخطوة الأولى"
        feedback: "@W لماذا هي الأولى"
      - id: two
        text: "@W الخطوة الثانية"
        feedback: "@W لماذا هي الثانية"
      - id: three
        text: "@W الخطوة الثالثة"
        feedback: "@W لماذا هي الثالثة"
    explanation: "@W الترتيب وسببه"
  - id: q-@ID-6
    kind: blank
    topic: vectorization
    question: "@W ما الكلمة التي تحل محل `____` في سطر من الكود؟"
    answer: sum
    explanation: "@W ما معنى الكلمة"
"""
