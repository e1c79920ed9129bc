"""Laws of a turn: it never raises, sessions always load, buttons always lead somewhere, bubbles stay small."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine import buttons, replies
from bot.engine.bubbles import LIMIT, weight_of
from bot.engine.commands import Command
from bot.engine.effects import Edit, RunCode, Say
from bot.engine.events import (
    ButtonPressed,
    ChatOpened,
    CodeChecked,
    CodeSent,
    Event,
    FileSent,
    RunFinished,
    RunProgressed,
    SyntaxTrouble,
    TextSent,
)
from bot.engine.known import Known
from bot.engine.replies import Choices, Reply
from bot.engine.session import Session, from_json, to_json
from bot.engine.turn import take_turn
from bot.testing import CAPABLE, Conversation, FixedDice, StandStillClock
from content.schema import Course
from sandbox_runner.protocol import (
    Accepted,
    Claim,
    Device,
    Ending,
    Fault,
    Flag,
    Job,
    JobKind,
    Machine,
    Note,
    OutFile,
    Phase,
    Progress,
    Ratio,
    Reached,
    Result,
    Stream,
    Variant,
)

TEXTS = (
    *(command.value for command in Command),
    *("ابدأ", "درس 1", "درس ثان", "التالي", "اختبار", "بطاقات", "خرافة أم حقيقة", "شغّل المثال", "تمرين", "استكشاف"),
    *(
        "1",
        "٢",
        "999",
        "80",
        "1e-5",
        "٦٥٬٥٠٤",
        "[2 4 6]",
        "لا أعرف",
        "لماذا؟",
        "؟",
        "",
        " ",
        "\u200f\u061c",
        "/",
        "/start x",
    ),
    *(
        "```py\nprint(1)\n```",
        "قياس\n```\nx\n```",
        "print(“a”)",
        "{name} `x` **y**",
        "x" * 5000,
        "# %% a\n1\n# %% b\n2",
    ),
)
STRANGE = (
    "",
    "1:::",
    "1:go::",
    "1:go:small.s:gone",
    "1:play:small:abc",
    "1:task:_9:task-one",
    "1:cmd:lesson:",
    "9:x:y:z",
)

events = st.one_of(
    st.sampled_from(TEXTS).map(TextSent),
    st.text(max_size=60).map(TextSent),
    st.sampled_from(STRANGE).map(ButtonPressed),
    st.builds(CodeSent, st.sampled_from(("print(1)", "x(", "", "“", "x" * 200)), measure=st.booleans()),
    st.builds(FileSent, st.sampled_from(("a.py", "a.txt", "a.zip", "", "../x.py")), st.binary(max_size=40)),
    st.just(ChatOpened()),
    st.integers(0, 40),
    st.sampled_from(("finish", "progress", "reload", "away", "back", "stale")),
)


def figures(size: float = 1e6) -> Variant:
    return Variant("a", size, size, (size * 0.9, size * 1.1), 9, 1, size * 20)


def rich(job: Job, ending: Ending, claim: Claim = Claim.FASTER) -> Result:
    return Result(
        job.id,
        job.kind,
        ending,
        stdout=Stream("x" * 9000, "y" * 9000, 99_000, 80_000),
        stderr=Stream("Traceback\n", "", 10, 0),
        value="3",
        fault=Fault("NameError", "NameError: name 'x' is not defined", 1),
        reached=Reached("memory_bytes", 2 << 30, "bytes"),
        files=(OutFile("a.png", "image/png", 3, "AAAA"),),
        notes=(Note("left_processes", {"count": 3}), Note("not_known_yet", {"key": 1})),
        variants=(figures(), replace(figures(2e6), name="b")),
        ratios=(Ratio("b", "a", 0.5, (0.45, 0.55), claim, 9, few=True),),
        flags=(
            Flag("noisy", {"noise": 0.2}),
            Flag("not_known_yet"),
            Flag("results_differ", {"name": "b", "error": 0.1}, 3),
        ),
        machine=Machine(cpu="c", cores=3),
        accepted_missing=("seccomp",),
    )


class Wanderer:
    """Takes any event, and looks at what must hold after each."""

    def __init__(self, course: Course) -> None:
        self.talk = Conversation(course)
        self.seen: list[str] = []
        self.course = course

    def step(self, event: Event | int | str) -> None:
        match event:
            case int():
                said = self.talk.take(ButtonPressed(self.seen[-1 - event % len(self.seen)])) if self.seen else ()
            case str():
                said = self.special(event)
            case _:
                said = self.talk.take(event)
                assert said or not isinstance(event, TextSent)
        session = self.talk.session
        assert from_json(to_json(session)) == session
        for reply in said:
            self.look(reply)

    def special(self, what: str) -> tuple[Reply, ...]:
        match what:
            case "finish" if self.talk.waiting:
                endings = tuple(Ending)
                return self.talk.finish(lambda job: rich(job, endings[len(self.seen) % len(endings)]))
            case "progress" if self.talk.waiting:
                return self.talk.take(RunProgressed(self.talk.waiting[0].id, Progress(Phase.COMPILE, 1, 4)))
            case "reload":
                kept = self.course.lessons[::-1][: 1 + len(self.seen) % 2]
                self.talk.course = self.course.model_copy(update={"hash": f"{len(self.seen):064d}", "lessons": kept})
            case "away" | "back":
                self.talk.capabilities = None if what == "away" else CAPABLE
            case "stale":
                gone = Result("nobody", JobKind.RUN, Ending.OK)
                stale = (
                    *self.talk.take(RunFinished("nobody", gone)),
                    *self.talk.take(RunProgressed("nobody", Accepted(1, 2.0))),
                    *self.talk.take(CodeChecked("nobody", None, SyntaxTrouble("x", 1, 1, "x"))),
                )
                assert stale == ()
        return ()

    def look(self, reply: Reply) -> None:
        assert replies.from_json(replies.to_json(reply)) == reply
        assert reply.blocks
        assert not re.search(r'"text":"[^"]*\{[a-z_]+\}[^"]*","kind":"(text|strong)"', replies.to_json(reply))
        assert not re.search(r'"text":"[a-z_]+\.[a-z_0-9.]+","kind":"text"', replies.to_json(reply))
        for block in reply.blocks:
            assert weight_of(block) <= LIMIT
            if isinstance(block, Choices):
                for choice in block.choices:
                    assert choice.label
                    assert buttons.parse(choice.payload) is not None
                    self.seen.append(choice.payload)


@settings(max_examples=60, deadline=None)
@given(st.lists(events, max_size=25))
def test_any_sequence_of_events_leaves_a_session_that_loads(
    course: Course, given_events: list[Event | int | str]
) -> None:
    wanderer = Wanderer(course)
    for event in given_events:
        wanderer.step(event)


@pytest.mark.parametrize("kind", list(JobKind))
@pytest.mark.parametrize("ending", list(Ending))
def test_every_ending_of_every_kind_is_worded(course: Course, kind: JobKind, ending: Ending) -> None:
    talk = Conversation(course)
    talk.take(CodeSent("print(1)"))
    bare = talk.finish(lambda job: Result(job.id, kind, ending))
    talk.take(CodeSent("print(1)"))
    full = talk.finish(lambda job: rich(job, ending))
    for reply in (*bare, *full):
        words = "".join(span.text for block in reply.blocks if block.kind == "paragraph" for span in block.spans)
        assert len(words) > 10
        assert "ending." not in words
        assert "{" not in words


def test_the_same_arguments_give_the_same_turn(course: Course) -> None:
    clock = StandStillClock()
    first, second = (
        take_turn(Session("me"), TextSent("اختبار"), Known(capabilities=CAPABLE), course, clock.now(), FixedDice())
        for _ in range(2)
    )
    assert first == second


def test_a_job_carries_the_learner_and_the_examples_own_limits(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("شغّل المثال"))
    (job,) = talk.waiting
    assert (job.learner, job.kind, job.source) == (talk.session.learner, JobKind.RUN, "print(1 + 1)\n")
    assert (job.limits.run_s, job.limits.memory_bytes, job.device) == (10.0, 2048 << 20, Device.CPU)
    assert talk.session.running == (job.id,)


def test_a_finished_run_touches_no_quiz_under_way(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("شغّل المثال"))
    talk.take(TextSent("اختبار"))
    before = talk.session
    talk.finish()
    assert talk.session == before.with_(running=(), ran=True)


def test_a_reply_of_a_run_is_edited_in_its_slot(course: Course) -> None:
    clock = StandStillClock()
    turn = take_turn(
        Session("me"), TextSent("شغّل المثال"), Known(capabilities=CAPABLE), course, clock.now(), FixedDice()
    )
    said = next(effect for effect in turn.effects if isinstance(effect, Say))
    run = next(effect for effect in turn.effects if isinstance(effect, RunCode))
    assert said.slot == run.slot
    assert not any(isinstance(effect, Edit) for effect in turn.effects)


def test_a_course_that_was_reloaded_moves_the_place_to_the_nearest_section(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("4"))
    talk.take(ButtonPressed("1:go:small.s:loops"))
    talk.take(ButtonPressed("1:go:small.s:arrays"))
    lesson = course.lessons[0]
    left = tuple(section for section in lesson.sections if section.id == "loops")
    kept = lesson.model_copy(update={"sections": left})
    talk.course = course.model_copy(update={"lessons": (kept,), "hash": "b" * 64})
    first, *_ = talk.take(TextSent("وين وصلت"))
    assert talk.session.place is not None
    assert talk.session.place.section == "loops"
    assert "أقرب قسم" in "".join(span.text for block in first.blocks for span in getattr(block, "spans", ()))


def test_an_ask_of_an_older_course_is_refused_and_changes_nothing(course: Course) -> None:
    talk = Conversation(course)
    *_, question = talk.take(TextSent("اختبار"))
    payload = next(block for block in question.blocks if isinstance(block, Choices)).choices[1].payload
    talk.course = course.model_copy(update={"hash": "b" * 64})
    talk.take(TextSent("خريطة"))
    before = (talk.session, dict(talk.store.asks))
    talk.take(ButtonPressed(payload))
    assert (talk.session, talk.store.asks) == before


def test_two_taps_on_one_answer_count_once(course: Course) -> None:
    talk = Conversation(course)
    *_, question = talk.take(TextSent("اختبار"))
    payload = next(block for block in question.blocks if isinstance(block, Choices)).choices[1].payload
    talk.take(ButtonPressed(payload))
    before = talk.session
    talk.take(ButtonPressed(payload))
    assert talk.session == before
    assert before.series is not None
    assert before.series.done == 1


def test_the_reference_of_an_exercise_is_never_said(course: Course) -> None:
    talk = Conversation(course)
    said = [*talk.take(TextSent("تمرين")), *talk.take(ButtonPressed("1:task:_1:task-one"))]
    assert all("SECRET_REFERENCE" not in replies.to_json(reply) for reply in said)
