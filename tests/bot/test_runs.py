"""Runs: who may start one, what its slot says, what is shown of its end, and what never changes."""

from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from bot.engine import outputs
from bot.engine.effects import CancelRun, RunCode
from bot.engine.events import ButtonPressed, CodeSent, RunFinished, RunProgressed, TextSent
from bot.engine.known import Known, KnownRun
from bot.engine.purposes import Purpose, Why, purpose_of
from bot.engine.replies import Attachment, Choices, CodeBlock, Paragraph, Reply, Steps, Timings
from bot.engine.session import Session
from bot.engine.turn import take_turn
from bot.testing import CAPABLE, Conversation, FixedDice, StandStillClock
from content.schema import Course
from sandbox_runner.protocol import (
    Accepted,
    Budget,
    Claim,
    Device,
    Ending,
    Fault,
    Flag,
    Job,
    JobKind,
    Note,
    OutFile,
    Phase,
    Progress,
    Ratio,
    Result,
    Stream,
    Variant,
)


def prose(said: tuple[Reply, ...]) -> list[str]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Paragraph))
    return ["".join(span.text for span in block.spans) for block in blocks]


def labels(said: tuple[Reply, ...]) -> list[str]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
    return [choice.label for block in blocks for choice in block.choices]


def of(said: tuple[Reply, ...], kind: type) -> list[object]:
    return [block for reply in said for block in reply.blocks if isinstance(block, kind)]


@pytest.mark.parametrize("purpose", [Purpose(), Purpose(Why.EXAMPLE, "race"), Purpose(Why.MYTH, "myth-one", "fact")])
def test_a_slot_tells_what_its_run_is_for(purpose: Purpose) -> None:
    assert purpose_of(purpose.slot("id0000000001")) == purpose


def test_a_strange_slot_counts_as_own_code() -> None:
    assert purpose_of("") == purpose_of("a:b") == purpose_of("no:b:c:d") == Purpose()


def test_a_run_of_somebody_else_is_not_run_again(course: Course) -> None:
    job = Job("id0000000009", JobKind.RUN, "print('secret')", "somebody")
    known = Known(run=KnownRun(job, "code:::id0000000009", done=True), capabilities=CAPABLE)
    press = ButtonPressed("1:again:id0000000009:time")
    turn = take_turn(Session("me"), press, known, course, StandStillClock().now(), FixedDice())
    assert not any(isinstance(effect, RunCode) for effect in turn.effects)


def test_a_run_is_repeated_with_its_own_source_and_limits_and_another_budget(course: Course) -> None:
    limits = replace(Job("x", JobKind.RUN, "", "").limits, run_s=3.0)
    job = Job("id0000000009", JobKind.TIME, "1 + 1", "me", Device.CPU, limits=limits, filename="mine.py")
    known = Known(run=KnownRun(job, "ex:race::id0000000009", done=True), capabilities=CAPABLE)
    press = ButtonPressed("1:again:id0000000009:thorough")
    turn = take_turn(Session("me"), press, known, course, StandStillClock().now(), FixedDice())
    (run,) = (effect for effect in turn.effects if isinstance(effect, RunCode))
    assert run.job == replace(job, id="id0000000001", budget=Budget.THOROUGH)
    assert run.slot == "ex:race::id0000000001"


def test_a_cancel_is_only_for_a_run_of_this_session(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    (job,) = talk.waiting
    talk.take(ButtonPressed("1:stop:id9999999999:"))
    assert talk.cancelled == []
    talk.take(ButtonPressed(f"1:stop:{job.id}:"))
    talk.take(TextSent("إلغاء"))
    assert talk.cancelled == [job.id, job.id]
    assert CancelRun(job.id) == CancelRun(job.id)


def test_a_stale_end_changes_nothing(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    (job,) = talk.waiting
    talk.finish()
    before = talk.session
    assert talk.take(RunFinished(job.id, Result(job.id, job.kind, Ending.OK))) == ()
    assert talk.take(RunProgressed(job.id, Progress(Phase.RUN))) == ()
    assert talk.session == before


def test_progress_shows_the_place_in_the_queue_and_the_phases(talk: Conversation) -> None:
    talk.take(CodeSent("x = 1\n# %% a\nx\n# %% b\nx"))
    (job,) = talk.waiting
    assert prose(talk.take(RunProgressed(job.id, Accepted(2, 11.4)))) == snapshot(
        ["في الصف: تشغيلان قبل هذا. الانتظار المتوقع: 11.4 ثانية."]
    )
    assert prose(talk.take(RunProgressed(job.id, Accepted(0, 0.0)))) == snapshot(["في أول الصف."])
    (steps,) = of(talk.take(RunProgressed(job.id, Progress(Phase.COMPILE, 1, 3))), Steps)
    assert isinstance(steps, Steps)
    assert [(step.label, step.state, step.done, step.total) for step in steps.steps] == snapshot(
        [
            ("بدء", "past", 0, 0),
            ("استيراد", "past", 0, 0),
            ("تهيئة", "past", 0, 0),
            ("ترجمة", "now", 1, 3),
            ("فحص", "ahead", 0, 0),
            ("إحماء", "ahead", 0, 0),
            ("قياس", "ahead", 0, 0),
            ("جمع النتائج", "ahead", 0, 0),
        ]
    )


def timed(job: Job, claim: Claim) -> Result:
    variants = (
        Variant("loop", 157e6, 150e6, (150e6, 165e6), 9, 1, 160e6),
        Variant("array", 1.26e6, 1.2e6, (1.25e6, 1.27e6), 9, 50, 40e6),
    )
    ratio = Ratio("array", "loop", 124.6, (118.0, 131.0), claim, 9, few=claim is Claim.FASTER)
    return Result(
        job.id,
        job.kind,
        Ending.OK,
        variants=variants,
        ratios=(ratio,),
        checked="fresh_inputs",
        flags=(Flag("tiny_calls", {"ns": 84.2}), Flag("print_timed", {}, 4)),
    )


def test_a_timing_says_the_verdict_the_first_call_and_what_was_checked(talk: Conversation) -> None:
    talk.take(TextSent("مثال 1"))
    said = talk.finish(lambda job: timed(job, Claim.FASTER))
    assert prose(said) == snapshot(
        ["array أسرع من loop بنحو 125 مرة (بين 118 و131 بثقة 99%). الجولات قليلة، فالحكم أقل دقة."]
    )
    (table,) = of(said, Timings)
    assert isinstance(table, Timings)
    assert [(row.name, row.shown, row.first_call) for row in table.rows] == snapshot(
        [("loop", "157 ms", ""), ("array", "1.26 ms", "40.0 ms")]
    )
    assert [(row.shown, row.interval, row.claim) for row in table.ratios] == snapshot([("125×", "118–131", "faster")])
    assert labels(said) == snapshot(["إعادة القياس", "قياس أطول", "شرح المثال", "متابعة القراءة"])


@pytest.mark.parametrize("claim", [Claim.SAME, Claim.UNCLEAR, Claim.SLOWER])
def test_every_claim_is_said_in_a_sentence(talk: Conversation, claim: Claim) -> None:
    talk.take(TextSent("مثال 1"))
    sentence, *_ = prose(talk.finish(lambda job: timed(job, claim)))
    assert "99%" in sentence
    assert ("أبطأ" in sentence) is (claim is Claim.SLOWER)


@pytest.mark.parametrize(
    ("low", "high", "aside"), [(1.014, 1.05, True), (0.93, 0.985, True), (0.97, 1.05, False), (1.0002, 1.05, False)]
)
def test_an_unclear_ratio_all_on_one_side_of_1_is_said_to_be_likely(
    talk: Conversation, low: float, high: float, *, aside: bool
) -> None:
    talk.take(TextSent("مثال 1"))
    ratio = Ratio("array", "loop", (low + high) / 2, (low, high), Claim.UNCLEAR, 40)
    sentence, *_ = prose(talk.finish(lambda job: replace(timed(job, Claim.UNCLEAR), ratios=(ratio,))))
    assert ("مرجّح" in sentence) is aside


def test_an_error_shows_the_learners_own_line_and_the_traceback_once(talk: Conversation) -> None:
    talk.take(CodeSent("x = 1\ny = x / 0\n"))
    last = "ZeroDivisionError: division by zero"
    said = talk.finish(
        lambda job: Result(
            job.id,
            job.kind,
            Ending.PY_ERROR,
            stderr=Stream(f"Traceback ...\n{last}\n", bytes=60),
            fault=Fault("ZeroDivisionError", last, 2),
        )
    )
    assert [(block.title, block.code) for block in of(said, CodeBlock) if isinstance(block, CodeBlock)] == snapshot(
        [
            ("السطر 2 من الكود", "y = x / 0"),
            ("مخرجات الخطأ (stderr)", "Traceback ...\nZeroDivisionError: division by zero"),
        ]
    )


def test_long_output_keeps_its_beginning_and_its_end(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    stream = Stream("begin" + "a" * 40_000, "b" * 40_000 + "end\n", 20 << 20, 19 << 20)
    said = talk.finish(lambda job: Result(job.id, job.kind, Ending.OUTPUT_LIMIT, stdout=stream))
    (block,) = of(said, CodeBlock)
    assert isinstance(block, CodeBlock)
    assert block.code.startswith("begin")
    assert block.code.endswith("end")
    assert outputs.CUT in block.code
    assert len(block.code) < 4000
    assert "20 MiB" in prose(said)[-1]


def test_files_come_back_as_many_as_a_reply_carries(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    files = tuple(OutFile(f"{i}.png", "image/png", 5, "A" * (3 << 20)) for i in range(4))
    said = talk.finish(lambda job: Result(job.id, job.kind, Ending.OK, files=files, notes=(Note("no_network"),)))
    assert len(of(said, Attachment)) == 2
    assert any("ملفان" in sentence for sentence in prose(said))


def test_a_name_out_of_the_sandbox_stays_in_code(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    hostile = "**x** `{n}` /start @someone"
    ratio = Ratio(hostile, hostile, 2.0, (1.9, 2.1), Claim.FASTER, 9)
    variant = Variant(hostile, 1e6, 1e6, (1e6, 1e6), 9, 1, 1e6)
    said = talk.finish(
        lambda job: Result(job.id, JobKind.TIME, Ending.OK, variants=(variant, variant), ratios=(ratio,))
    )
    first = next(block for reply in said for block in reply.blocks if isinstance(block, Paragraph))
    assert [span.text for span in first.spans if span.kind == "code"] == [hostile, hostile]
