"""Questions about the last run: known by their words in every dialect, and never taken for others."""

from pathlib import Path

import pytest

from bot.adapters.shell import asking
from bot.engine.answering import answerer, replying
from bot.engine.events import CodeSent, RunFinished, TextSent
from bot.engine.known import Known
from bot.engine.moment import Moment
from bot.engine.replies import Reply, Spans
from bot.engine.wording import Wording
from bot.testing import MACHINE, Conversation
from content import schema
from content.schema import Course, Topic
from sandbox_runner.protocol import Claim, Ending, Fault, Flag, Job, Ratio, Result, Variant

CODE = "x = 1\n# %% loop\nx + 1\n# %% float16\nx + 2\n"
ASKED = {
    "slow": [
        "ليش طلع أبطأ؟",
        "ليه طلع أبطأ كده؟",
        "لماذا جاء أبطأ؟",
        "علاش جا ثقيل؟",
        "ليش كودي بطيء؟",
        "ليه الكود بتاعي تقيل؟",
    ],
    "fast": ["ليش طلع أسرع؟", "علاش جات النتيجة سريعة؟"],
    "unclear": ["وش معنى unclear؟", "شو يعني غير واضح بالنتيجة؟", "علاش النتيجة ماشي واضحة؟"],
    "unsure": [
        "ليه الرقم ده مش مؤكد؟",
        "هل أقدر أثق بالنتيجة؟",
        "واش نتيق فهاد الرقم؟",
        "ليش الساعة الخارجية ما أكدته هذا القياس؟",
    ],
    "whole": ["شو يعني هالنتيجة؟", "اشرح النتيجة", "وش معنى هذا الرقم؟", "فسر لي آخر قياس"],
    "error": ["ليش وقف الكود؟", "شنو سبب الخطأ؟", "ليه طلعلي error؟"],
    "same": ["ليش طلعوا نفس السرعة؟", "ليه مفيش فرق بينهم في النتيجة؟"],
    "interval": ["وش يعني المجال اللي طلع؟"],
}
OF_LESSONS = [
    "ليش اللوب بطيء؟",
    "ليش طلعت النتيجة inf؟",
    "لماذا autocast أبطأ على المعالج؟",
    "ليش القياس على الجي بي يو يطلع غلط؟",
    "ما الفرق بين float16 و bfloat16؟",
    "ليش torch.compile أول مرة بطيء؟",
]


def timed(job: Job, claim: str = "slower", flags: tuple[Flag, ...] = ()) -> Result:
    point = {"slower": 0.5, "faster": 2.0}.get(claim, 1.01)
    ratio = Ratio("float16", "loop", point, (point * 0.9, point * 1.1), Claim(claim), 20)
    variants = tuple(Variant(name, 1e6, 1e6, (9e5, 11e5), 20, 1, 9e6) for name in ("loop", "float16"))
    return Result(
        job.id, job.kind, Ending.OK, variants=variants, ratios=(ratio,), noise=0.02, machine=MACHINE, flags=flags
    )


def told(said: tuple[Reply, ...]) -> str:
    def of(spans: Spans) -> str:
        return "".join(span.text for span in spans)

    return "\n".join(
        of(getattr(block, "spans", ())) + "\n".join(of(item) for item in getattr(block, "items", ()))
        for reply in said
        for block in reply.blocks
    )


def measured(talk: Conversation, claim: str = "slower", flags: tuple[Flag, ...] = ()) -> None:
    talk.take(CodeSent(CODE, measure=True))
    talk.finish(lambda job: timed(job, claim, flags))


@pytest.mark.parametrize(("aspect", "text"), [(aspect, text) for aspect, listed in ASKED.items() for text in listed])
def test_a_question_about_the_last_run_is_known_in_each_dialect(own_course: Course, aspect: str, text: str) -> None:
    found = answerer.of(own_course)
    asked = found.run_talk.read(text, found.ask(text).terms, ("loop", "float16"))
    assert asked is not None
    assert asked.aspect == aspect


@pytest.mark.parametrize("text", OF_LESSONS)
def test_a_question_about_the_lessons_is_none_about_a_run(own_course: Course, text: str) -> None:
    found = answerer.of(own_course)
    asked = found.run_talk.read(text, found.ask(text).terms, ("first", "second"))
    assert asked is None or not asked.plainly


def test_every_kept_question_about_the_lessons_stays_one(own_course: Course) -> None:
    found = answerer.of(own_course)
    folder = Path(__file__).resolve().parent / "questions"
    taken = [
        question.text
        for name in ("dev", "own", "later", "dialects")
        for question in asking.read(folder / f"{name}.jsonl")
        if question.topics
        and (asked := found.run_talk.read(question.text, terms := found.ask(question.text).terms))
        and asked.plainly
        and not terms.own
    ]
    assert taken == []


@pytest.mark.parametrize(
    ("text", "known"), [("شو أسرع؟", "أبطأ"), ("أيهما أسرع؟", "أبطأ"), ("هل هذا أكيد؟", "الساعة الخارجية")]
)
def test_few_words_ask_of_the_comparison_that_was_just_shown_and_of_nothing_else(
    own_course: Course, text: str, known: str
) -> None:
    talk = Conversation(own_course)
    before = told(talk.take(TextSent(text)))
    assert "عن آخر تشغيل" not in before
    assert "لا تشغيل سابق" not in before
    measured(talk)
    said = told(talk.take(TextSent(text)))
    assert "عن آخر تشغيل" in said
    assert known in said
    talk.take(TextSent("ما معنى البث؟"))
    assert "عن آخر تشغيل" not in told(talk.take(TextSent(text)))


def test_without_a_run_it_says_so_and_what_the_word_means(own_course: Course) -> None:
    talk = Conversation(own_course)
    assert "لا تشغيل سابق" in told(talk.take(TextSent("ليش طلع أبطأ؟")))
    said = told(talk.take(TextSent("وش معنى unclear؟")))
    assert "فترة الثقة أوسع" in said
    assert "لا تشغيل سابق" in said


def test_the_answer_is_the_runs_own_figures_and_flags(own_course: Course) -> None:
    talk = Conversation(own_course)
    measured(talk, flags=(Flag("tiny_calls", {"ns": 80.0}), Flag("noisy", {"noise": 0.2})))
    said = told(talk.take(TextSent("ليش طلع أبطأ؟")))
    for part in ("float16", "أبطأ من", "80", "20%", "ما لوحظ"):
        assert part in said
    assert "لم تؤكد الساعة الخارجية" in told(talk.take(TextSent("ليه الرقم ده مش مؤكد؟")))


def test_a_variant_of_the_run_may_bear_a_name_of_the_lessons(own_course: Course) -> None:
    talk = Conversation(own_course)
    measured(talk)
    assert "عن آخر تشغيل" in told(talk.take(TextSent("ليش float16 طلع أبطأ؟")))
    assert "عن آخر تشغيل" not in told(talk.take(TextSent("ليش bfloat16 طلع أبطأ؟")))


def test_a_run_that_has_not_ended_is_not_explained(own_course: Course) -> None:
    talk = Conversation(own_course)
    talk.take(CodeSent(CODE, measure=True))
    assert "لا نتيجة لآخر تشغيل بعد" in told(talk.take(TextSent("ليش طلع أبطأ؟")))


@pytest.mark.parametrize(
    "text", ["وليش؟", "ليه؟", "علاش؟", "والسبب؟", "شو السبب", "leh?", "بالعربي البسيط", "اشرح أكثر"]
)
def test_a_follow_up_after_a_run_is_about_the_run(own_course: Course, text: str) -> None:
    talk = Conversation(own_course)
    measured(talk)
    assert "عن آخر تشغيل" in told(talk.take(TextSent(text)))
    talk.take(TextSent("درس 1"))
    talk.take(TextSent("التالي"))
    assert "عن آخر تشغيل" not in told(talk.take(TextSent(text)))


def test_a_question_about_a_run_leaves_an_open_question_open(course: Course, own_course: Course) -> None:
    talk = Conversation(course.model_copy(update={"speech": own_course.speech, "aliases": own_course.aliases}))
    measured(talk)
    talk.take(TextSent("اختبار"))
    asked = talk.session.asked
    said = told(talk.take(TextSent("ليش طلع أبطأ؟")))
    assert "ما زال مفتوحًا" in said
    assert talk.session.asked == asked
    assert not talk.store.asks[asked].closed


def test_a_section_that_holds_the_right_option_or_the_output_gives_the_answer_away(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("اختبار"))
    lesson = course.lessons[0]
    loops = next(each for each in lesson.sections if each.topic is Topic.PYTHON_LOOPS)
    seen: list[bool] = []
    for blocks in (
        (schema.TextBlock(kind="text", text="الأسرع هنا هو المصفوفة دائما"),),
        (schema.TextBlock(kind="text", text="لا شيء هنا يجيب"),),
    ):
        section = loops.model_copy(update={"blocks": blocks})
        sections = tuple(section if each is loops else each for each in lesson.sections)
        changed = course.model_copy(update={"lessons": (lesson.model_copy(update={"sections": sections}),)})
        seen.append(replying.gives_away(_moment(talk, changed), section))
    assert seen == [True, False]


ITEMS = {
    "predict": schema.PredictOutput(
        kind="predict",
        id="item-printed",
        topic=Topic.TIMING_SYNC,
        question="ماذا يطبع؟",
        code="prints.py",
        answer="2",
        explanation="شرح.",
    ),
    "number": schema.NumberAnswer(
        kind="number", id="item-count", topic=Topic.TIMING_SYNC, question="كم؟", value=65504, explanation="شرح."
    ),
    "blank": schema.FillBlank(
        kind="blank", id="item-word", topic=Topic.TIMING_SYNC, question="ما ____؟", answer="out", explanation="شرح."
    ),
}
HELD_BACK = {
    "the output's own code": ("predict", schema.CodeBlock(kind="code", file="prints.py")),
    "an example that prints it": ("predict", schema.ExampleBlock(kind="example", example="prints")),
    "the number": ("number", schema.TextBlock(kind="text", text="وأكبر عدد هو 65504 فقط.")),
    "the word": ("blank", schema.TextBlock(kind="text", text="يُكتب الناتج في `out=` مباشرة.")),
}
SAID = {
    "other code": ("predict", schema.CodeBlock(kind="code", file="race.py")),
    "another number": ("number", schema.TextBlock(kind="text", text="وأكبر عدد هو 655040 فقط.")),
    "another word": ("blank", schema.TextBlock(kind="text", text="يُكتب الناتج في `outer` مباشرة.")),
}


@pytest.mark.parametrize("case", [*HELD_BACK, *SAID])
def test_a_question_inside_a_check_is_held_back_where_its_answer_stands_in_the_section(
    course: Course, case: str
) -> None:
    kind, block = {**HELD_BACK, **SAID}[case]
    lesson = course.lessons[0]
    sections = tuple(
        each.model_copy(update={"blocks": (block,)}) if each.topic is Topic.PYTHON_LOOPS else each
        for each in lesson.sections
    )
    small = lesson.model_copy(update={"sections": sections, "check": (ITEMS[kind],) * 6})
    talk = Conversation(course.model_copy(update={"lessons": (small,)}))
    talk.take(TextSent("اختبار"))
    asked = talk.session.asked
    said = told(talk.take(TextSent("لماذا الحلقات بطيئة؟")))
    assert ("مؤجّل" in said) is (case in HELD_BACK)
    assert talk.session.asked == asked
    assert not talk.store.asks[asked].closed
    if case in HELD_BACK:
        for text in ("وليش؟", "مثال؟", "شغّله", "اشرح أكثر"):
            talk.take(TextSent(text))
            assert talk.session.asked == asked


def _moment(talk: Conversation, course: Course) -> Moment:
    known = Known(ask=talk.store.asks[talk.session.asked])
    return Moment(talk.session, known, course, Wording(course.phrases), talk.clock.now(), talk.dice)


def test_a_late_end_of_another_run_changes_nothing(own_course: Course) -> None:
    talk = Conversation(own_course)
    measured(talk)
    before = talk.session
    talk.take(RunFinished("nobody", timed(talk.store._runs[before.last_run].job)))
    assert talk.session == before


@pytest.mark.parametrize(("name", "line"), [("np", "import numpy as np"), ("F", "import torch.nn.functional as F")])
def test_a_name_that_only_an_import_brings_is_told_with_that_line(own_course: Course, name: str, line: str) -> None:
    talk = Conversation(own_course)
    talk.take(CodeSent(f"{name}.a"))
    fault = Fault("NameError", f"NameError: name '{name}' is not defined", 1)
    said = str(talk.finish(lambda job: Result(job.id, job.kind, Ending.PY_ERROR, fault=fault)))
    assert line in said
    assert "الإملاء" not in said
