"""On which machine a run was made: another try asks for the same one, and figures of another are marked as such."""

from dataclasses import replace

import pytest

from bot.engine import replies
from bot.engine.events import ButtonPressed, CodeSent
from bot.engine.replies import Choices, Reply
from bot.testing import CAPABLE, MACHINE, Conversation
from content.schema import Course
from sandbox_runner.protocol import Claim, Device, Ending, Job, JobKind, Ratio, Result, Variant

TIMED = "x = 1\n# %% loop\nx\n# %% array\nx\n"
MARK = "لا تصح مقارنة هذه الأزمنة"


def text(said: tuple[Reply, ...]) -> str:
    return "\n".join(replies.to_json(reply) for reply in said)


def pressed(talk: Conversation, label: str, said: tuple[Reply, ...]) -> tuple[Reply, ...]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
    return talk.take(ButtonPressed(next(c.payload for block in blocks for c in block.choices if c.label == label)))


def timed(job: Job, machine: str) -> Result:
    variants = tuple(Variant(name, 1e6, 1e6, (0.9e6, 1.1e6), 20, 1, 1e6) for name in ("loop", "array"))
    ratio = Ratio("array", "loop", 2.0, (1.9, 2.1), Claim.FASTER, 20)
    ran_on = replace(MACHINE, name=machine)
    return Result(job.id, job.kind, Ending.OK, job.device, variants=variants, ratios=(ratio,), machine=ran_on)


def first(talk: Conversation, machine: str) -> tuple[Reply, ...]:
    talk.take(CodeSent(TIMED))
    assert [job.machine for job in talk.waiting] == [""]
    return talk.finish(lambda job: timed(job, machine))


@pytest.mark.parametrize("label", ["إعادة القياس", "قياس أطول"])
def test_another_measurement_asks_for_the_machine_of_the_first(talk: Conversation, label: str) -> None:
    pressed(talk, label, first(talk, "gpu-1"))
    assert [job.machine for job in talk.waiting] == ["gpu-1"]
    assert MARK not in text(talk.finish(lambda job: timed(job, "gpu-1")))


def test_figures_of_another_machine_than_asked_for_are_marked_with_both_names(talk: Conversation) -> None:
    pressed(talk, "إعادة القياس", first(talk, "gpu-1"))
    said = text(talk.finish(lambda job: timed(job, "gpu-2")))
    assert MARK in said
    assert "gpu-1" in said
    assert "gpu-2" in said


def test_a_try_after_one_without_figures_still_asks_for_the_machine_of_the_first(talk: Conversation) -> None:
    pressed(talk, "إعادة القياس", first(talk, "gpu-1"))
    lost = talk.finish(lambda job: Result(job.id, job.kind, Ending.INFRA_ERROR))
    pressed(talk, "إعادة القياس", lost)
    assert [job.machine for job in talk.waiting] == ["gpu-1"]


def test_a_plain_run_asks_for_no_machine(talk: Conversation) -> None:
    talk.take(CodeSent("print(1)"))
    said = talk.finish(lambda job: Result(job.id, job.kind, Ending.OK, machine=replace(MACHINE, name="gpu-1")))
    pressed(talk, "إعادة التشغيل", said)
    assert [(job.kind, job.machine) for job in talk.waiting] == [(JobKind.RUN, "")]


@pytest.mark.parametrize(("other", "marked"), [("gpu-1", False), ("gpu-2", True), ("", False)])
def test_two_sides_that_ran_on_two_machines_say_so(course: Course, other: str, *, marked: bool) -> None:
    gpu = Conversation(course, replace(CAPABLE, devices=(Device.CPU, Device.CUDA), device_count=1))
    pressed(gpu, "على كليهما", gpu.take(CodeSent(TIMED.replace("1", "'cuda'"))))
    gpu.finish(lambda job: timed(job, "gpu-1"))
    assert ("على حاسوبين مختلفين" in text(gpu.finish(lambda job: timed(job, other)))) is marked
