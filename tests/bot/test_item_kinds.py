"""Items answered by marks, judging, ordering and filling in: grading, credit, double taps, any order of events."""

import contextlib
import io
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine.events import ButtonPressed, CodeSent, TextSent
from bot.engine.quizzes import blank, items, order, several, true_false, written
from bot.engine.quizzes.grades import Verdict
from bot.engine.replies import Choices, Reply
from bot.engine.session import from_json, to_json
from bot.engine.wording import Wording
from bot.testing import Conversation
from content.schema import Course, FillBlank, Item, OrderSteps, SeveralChoice, TrueFalse, WriteCode
from sandbox_runner.protocol import Ending, JobKind, Result, Stream


@pytest.fixture(scope="session")
def marked(other_items: tuple[Item, ...]) -> SeveralChoice:
    return next(item for item in other_items if isinstance(item, SeveralChoice))


@pytest.fixture(scope="session")
def ordered(other_items: tuple[Item, ...]) -> OrderSteps:
    return next(item for item in other_items if isinstance(item, OrderSteps))


@pytest.fixture(scope="session")
def filled(other_items: tuple[Item, ...]) -> FillBlank:
    return next(item for item in other_items if isinstance(item, FillBlank))


@pytest.fixture
def talk(course: Course, other_items: tuple[Item, ...]) -> Conversation:
    """Give a conversation whose check asks an item of each of these kinds."""
    lessons = tuple(lesson.model_copy(update={"check": other_items}) for lesson in course.lessons)
    return Conversation(course.model_copy(update={"lessons": lessons}))


def choices(said: tuple[Reply, ...]) -> dict[str, str]:
    found = [block for reply in said for block in reply.blocks if isinstance(block, Choices)]
    return {choice.label: choice.payload for block in found for choice in block.choices}


def press(talk: Conversation, said: tuple[Reply, ...], label: str) -> tuple[Reply, ...]:
    return talk.take(ButtonPressed(choices(said)[label]))


@given(st.sets(st.sampled_from(("sum", "loop", "times", "list", "dot"))))
def test_credit_of_several_is_the_right_less_the_wrong_of_all_the_right(marked: SeveralChoice, names: set[str]) -> None:
    grade = several.grade(marked, " ".join(names))
    right, wrong = len(names & {"sum", "times", "dot"}), len(names & {"loop", "list"})
    assert grade.credit == pytest.approx(max(0, right - wrong) / 3)
    assert 0 <= grade.credit <= 1
    assert (grade.verdict is Verdict.RIGHT) == (names == {"sum", "times", "dot"})
    if names:
        assert {note.part for note in grade.notes} == {o.text for o in marked.options if o.id in names}
        assert bool(grade.misconception) == bool(wrong)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1 3", "sum times"),
        ("3،1", "sum times"),
        ("١ و٣ و٥", "sum times dot"),
        ("1, 3, 1", "sum times"),
        ("حلقة for", "loop"),
        ("6", ""),
        ("0", ""),
        ("x", ""),
    ],
)
def test_several_options_are_typed_by_their_numbers(marked: SeveralChoice, typed: str, answer: str) -> None:
    assert several.read(marked, several.options(marked), typed) == answer


def test_only_the_right_order_is_right_and_the_first_misplaced_step_speaks(ordered: OrderSteps) -> None:
    right = order.options(ordered)
    for names in permutations(right):
        grade = order.grade(ordered, " ".join(names))
        assert (grade.verdict is Verdict.RIGHT) == (names == right)
        if names != right:
            assert grade.feedback == ordered.steps[grade.points].feedback
    assert order.grade(ordered, "warm warm repeat median").verdict is Verdict.UNREAD


@given(st.permutations(("warm", "repeat", "median", "compare")))
def test_steps_are_never_shown_in_their_right_order(ordered: OrderSteps, shuffled: list[str]) -> None:
    shown = order.disarranged(ordered, tuple(shuffled))
    assert sorted(shown) == sorted(shuffled)
    assert shown != order.options(ordered)


@pytest.mark.parametrize(("typed", "answer"), [("صح", "true"), ("خطأ", "false"), ("TRUE", "true"), ("ربما", "")])
def test_a_statement_is_judged_in_words(typed: str, answer: str) -> None:
    assert true_false.read(typed) == answer


def test_a_judgement_has_the_feedback_of_its_side(other_items: tuple[Item, ...]) -> None:
    item = next(item for item in other_items if isinstance(item, TrueFalse))
    assert true_false.grade(item, "true").misconception == "broadcast-copies"
    assert true_false.grade(item, "false").verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("typed", "verdict"),
    [
        ("sum", Verdict.RIGHT),
        (" `sum` ", Verdict.RIGHT),
        ("sum()", Verdict.RIGHT),
        ("Sum", Verdict.WRONG),
        ("mean", Verdict.NEAR),
        ("ما هذا الفراغ؟", Verdict.UNREAD),
        ("", Verdict.UNREAD),
        ("a\nb", Verdict.UNREAD),
        ("x" * 200, Verdict.UNREAD),
    ],
)
def test_a_blank_is_compared_as_code(filled: FillBlank, typed: str, verdict: Verdict) -> None:
    assert blank.grade(filled, typed).verdict is verdict


def test_an_arabic_word_fills_a_blank_in_any_of_its_spellings(filled: FillBlank) -> None:
    item = filled.model_copy(update={"answer": "الذاكرة"})
    assert blank.grade(item, "الذاكره").verdict is Verdict.RIGHT


def test_every_kind_has_a_solution(other_items: tuple[Item, ...], phrases: dict[str, str]) -> None:
    for item in other_items:
        assert items.solution(item, (), Wording(phrases))


def test_partial_credit_is_kept_and_help_does_not_lower_it(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("1 3"))
    assert talk.session.earned == pytest.approx(2 / 3)
    talk.take(TextSent("1 3 5"))
    assert [talk.store.credits[ask.id] for ask in talk.store.asks.values() if ask.closed] == [pytest.approx(2 / 3)]


def test_giving_up_keeps_what_was_earned(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("1"))
    talk.take(TextSent("لا أعرف"))
    assert talk.session.series is not None
    assert talk.session.series.credit == pytest.approx(1 / 3)
    assert talk.session.earned == 0


def test_a_second_tap_marks_nothing_anew(talk: Conversation) -> None:
    said = talk.take(TextSent("اختبار"))
    press(talk, said, "☐ x.sum()")
    before = talk.session
    assert press(talk, said, "☐ x.sum()") == ()
    assert talk.session == before


def test_a_second_tap_on_confirm_counts_no_second_try(talk: Conversation) -> None:
    said = talk.take(TextSent("اختبار"))
    press(talk, said, "☐ حلقة for")
    press(talk, said, "تأكيد")
    press(talk, said, "تأكيد")
    assert [ask.tries for ask in talk.store.asks.values()] == [1]


def test_marks_outlive_reading_and_are_shown_in_a_new_panel(talk: Conversation) -> None:
    said = talk.take(TextSent("اختبار"))
    press(talk, said, "☐ x.sum()")
    first = talk.session.panel
    talk.take(TextSent("التالي"))
    again = talk.take(TextSent("اختبار"))
    assert "☑ x.sum()" in choices(again)
    assert talk.session.panel != first


def test_marks_for_an_outdated_question_are_refused(talk: Conversation) -> None:
    said = talk.take(TextSent("اختبار"))
    talk.take(TextSent("لا أعرف"))
    before = talk.session
    press(talk, said, "☐ x.sum()")
    assert talk.session == before


@pytest.mark.parametrize(
    "option", ["_on.9", "_on.99", "_put.0", "_undo.0", "_on.", "_on.x", "sum", "_", "on.1", "_flip"]
)
def test_a_forged_mark_is_refused(talk: Conversation, option: str) -> None:
    talk.take(TextSent("اختبار"))
    before = talk.session
    assert talk.take(ButtonPressed(f"1:ans:{before.asked}:{option}")) != ()
    assert talk.session == before


def run(source: str) -> Stream:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "code.py", "exec"), {"__name__": "__main__"})  # noqa: S102 - code of this test
    return Stream(printed.getvalue(), bytes=len(printed.getvalue()))


@pytest.mark.parametrize("own", ["", "print('hello')", "print('hello', end='')", "def f():\n    pass", "x = 1  # \\"])
def test_what_the_check_prints_is_told_from_the_learners_own_output(own: str) -> None:
    source = written.composed(own, "print(14)\n", "mark")
    parted = written.parted(run(source), "mark")
    assert parted is not None
    assert parted[0].head.strip() == ("hello" if "hello" in own else "")
    assert parted[1] == "14\n"
    assert written.own_of(source, "mark") == own


def test_a_mark_of_another_run_is_no_mark() -> None:
    assert written.parted(run("print('\\nother')\nprint(14)"), "mark") is None


def test_the_mark_is_found_behind_output_that_was_cut() -> None:
    stream = Stream("a" * 100, "b" * 50 + "\nmark\n14\n", 10_000, 9_000)
    parted = written.parted(stream, "mark")
    assert parted is not None
    assert (parted[0].head, parted[0].tail, parted[1]) == ("a" * 100, "b" * 50, "14\n")


@pytest.mark.parametrize(
    ("printed", "rel", "verdict"),
    [
        ("14\n", 0.0, Verdict.RIGHT),
        ("14  \n\n", 0.0, Verdict.RIGHT),
        ("14.0\n", 0.0, Verdict.RIGHT),
        ("14.001\n", 0.0, Verdict.WRONG),
        ("14.001\n", 1e-3, Verdict.RIGHT),
        ("36\n", 0.0, Verdict.NEAR),
        ("x 14\n", 0.0, Verdict.WRONG),
        ("", 0.0, Verdict.WRONG),
    ],
)
def test_what_a_check_prints_is_compared_by_lines_and_numbers(
    other_items: tuple[Item, ...], printed: str, rel: float, verdict: Verdict
) -> None:
    item = next(item for item in other_items if isinstance(item, WriteCode)).model_copy(update={"rel": rel})
    assert written.grade(item, printed, "14\n").verdict is verdict


def test_code_with_a_wish_for_its_time_is_measured_and_no_answer(course: Course, other_items: tuple[Item, ...]) -> None:
    lessons = tuple(lesson.model_copy(update={"check": other_items[-1:]}) for lesson in course.lessons)
    talk = Conversation(course.model_copy(update={"lessons": lessons}))
    talk.take(TextSent("اختبار"))
    talk.take(CodeSent("total = sum", measure=True))
    assert [(job.kind, job.source) for job in talk.waiting] == [(JobKind.TIME, "total = sum")]


def test_the_same_code_counts_once(course: Course, other_items: tuple[Item, ...]) -> None:
    lessons = tuple(lesson.model_copy(update={"check": other_items[-1:]}) for lesson in course.lessons)
    talk = Conversation(course.model_copy(update={"lessons": lessons}))
    talk.take(TextSent("اختبار"))
    for _ in range(2):
        talk.take(CodeSent("def total(v):\n    return 1"))
        talk.finish(lambda job: Result(job.id, job.kind, Ending.OK, stdout=run(job.source)))
    assert [ask.tries for ask in talk.store.asks.values()] == [1]
    talk.take(CodeSent("def total(v):\n    return 14"))
    talk.finish(lambda job: Result(job.id, job.kind, Ending.OK, stdout=run(job.source)))
    assert [ask.closed for ask in talk.store.asks.values()] == [True]


STEPS = st.one_of(
    st.integers(0, 30),
    st.sampled_from(
        ("اختبار", "تلميح", "لا أعرف", "1 3", "2 4 1 3", "4 1 2 3", "صح", "sum", "mean", "1", "التالي", "بطاقات")
    ),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_any_sequence_leaves_credit_within_bounds_and_a_session_that_loads(
    course: Course, other_items: tuple[Item, ...], steps: list[int | str]
) -> None:
    lessons = tuple(lesson.model_copy(update={"check": other_items}) for lesson in course.lessons)
    talk = Conversation(course.model_copy(update={"lessons": lessons}))
    seen = list(choices(talk.take(TextSent("اختبار"))).values())
    for step in steps:
        event = TextSent(step) if isinstance(step, str) else ButtonPressed(seen[-1 - step % len(seen)])
        seen += choices(talk.take(event)).values()
        session = talk.session
        assert from_json(to_json(session)) == session
        assert all(0 <= credit <= 1 for credit in talk.store.credits.values())
        assert 0 <= session.earned <= 1
        assert session.asked or (session.marked, session.panel, session.tried, session.earned) == ((), "", (), 0.0)
        if session.series and session.series.kind == "check":
            assert 0 <= session.series.credit <= session.series.done
