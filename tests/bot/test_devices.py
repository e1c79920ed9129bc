"""Where a learner's code runs: asked where it names cuda, its own limits on each device, and both told side by side."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine import devices, replies
from bot.engine.events import ButtonPressed, CodeSent, Event, TextSent
from bot.engine.replies import Choices, Reply
from bot.engine.session import from_json, to_json
from bot.testing import CAPABLE, Conversation
from content.schema import Course
from sandbox_runner.protocol import (
    CUDA_MEMORY_BYTES,
    Claim,
    Device,
    Ending,
    Job,
    JobKind,
    Limits,
    Ratio,
    Reached,
    Result,
    Stream,
    limits_for,
)

BOTH = replace(CAPABLE, devices=(Device.CPU, Device.CUDA), device_count=1)
NAMED = "import torch\nprint(torch.ones(2, device='cuda'))\n"
TIMED = "x = 'cuda'\n# %% loop\nx\n# %% array\nx\n"


def text(said: tuple[Reply, ...]) -> str:
    return "\n".join(replies.to_json(reply) for reply in said)


def buttons(said: tuple[Reply, ...]) -> dict[str, str]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
    return {choice.label: choice.payload for block in blocks for choice in block.choices}


def timed(job: Job, claim: Claim = Claim.FASTER) -> Result:
    ratio = Ratio("array", "loop", 2.0, (1.9, 2.1), claim, 20)
    return Result(job.id, job.kind, Ending.OK, job.device, ratios=(ratio,))


@pytest.fixture
def gpu(course: Course) -> Conversation:
    """Give a conversation whose runner has a GPU."""
    return Conversation(course, BOTH)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("x.cuda()", True),
        ("device = 'cuda:0'", True),
        ('torch.device("CUDA")', True),
        ("x = 1  # cuda", False),
        ("# cuda\nprint(1)", False),
        ("print(1)", False),
    ],
)
def test_code_names_cuda_outside_its_comments(source: str, *, named: bool) -> None:
    assert devices.named(source) is named


@pytest.mark.parametrize(
    ("label", "expected"),
    [("على المعالج", [Device.CPU]), ("على البطاقة", [Device.CUDA]), ("على كليهما", [Device.CPU, Device.CUDA])],
)
def test_each_choice_runs_there_and_with_that_devices_limits(
    gpu: Conversation, label: str, expected: list[Device]
) -> None:
    offered = buttons(gpu.take(CodeSent(NAMED)))
    assert gpu.waiting == []
    gpu.take(ButtonPressed(offered[label]))
    assert [job.device for job in gpu.waiting] == expected
    assert [job.limits for job in gpu.waiting] == [limits_for(device) for device in expected]
    assert limits_for(Device.CUDA).memory_bytes == CUDA_MEMORY_BYTES


def test_code_that_names_no_cuda_runs_on_the_processor_without_a_question(gpu: Conversation) -> None:
    gpu.take(CodeSent("print(1)"))
    assert [(job.device, job.limits) for job in gpu.waiting] == [(Device.CPU, Limits())]


def test_without_a_gpu_nothing_runs_until_the_processor_is_chosen(talk: Conversation) -> None:
    offered = buttons(talk.take(CodeSent(NAMED)))
    assert talk.waiting == []
    assert "على البطاقة" not in offered
    check = talk.session.pending
    assert check is not None
    assert "غير متاح" in text(talk.take(ButtonPressed(f"1:fix:{check.check}:cuda")))
    assert talk.waiting == []
    talk.take(ButtonPressed(offered["على المعالج"]))
    assert [job.device for job in talk.waiting] == [Device.CPU]


def test_a_gpu_that_went_away_is_not_replaced_in_silence(gpu: Conversation) -> None:
    offered = buttons(gpu.take(CodeSent(NAMED)))
    gpu.capabilities = CAPABLE
    assert "غير متاح" in text(gpu.take(ButtonPressed(offered["على كليهما"])))
    assert gpu.waiting == []


def test_a_run_again_whose_gpu_went_away_offers_the_processor(gpu: Conversation) -> None:
    gpu.take(ButtonPressed(buttons(gpu.take(CodeSent(NAMED)))["على البطاقة"]))
    again = buttons(gpu.finish())
    gpu.capabilities = CAPABLE
    said = gpu.take(ButtonPressed(again["إعادة التشغيل"]))
    assert gpu.waiting == []
    assert "غير متاح" in text(said)
    gpu.take(ButtonPressed(buttons(said)["على المعالج"]))
    assert [(job.device, job.limits) for job in gpu.waiting] == [(Device.CPU, Limits())]


def test_a_submission_to_an_exercise_is_asked_nothing(gpu: Conversation) -> None:
    gpu.take(TextSent("تمرين"))
    gpu.take(CodeSent("def solve():\n    return 'cuda'\n"))
    assert [(job.kind, job.device) for job in gpu.waiting] == [(JobKind.EXERCISE, Device.CPU)]


def test_a_repair_still_needs_its_own_consent(gpu: Conversation) -> None:
    gpu.take(CodeSent("x = “cuda”\n"))
    pending = gpu.session.pending
    assert pending is not None
    assert not pending.choosing
    gpu.take(ButtonPressed(f"1:fix:{pending.check}:both"))
    assert gpu.waiting == []


def test_both_needs_two_free_places(gpu: Conversation) -> None:
    gpu.take(CodeSent("print(1)"))
    offered = buttons(gpu.take(CodeSent(NAMED)))
    said = buttons(gpu.take(ButtonPressed(offered["على كليهما"])))
    assert len(gpu.waiting) == 1
    gpu.finish()
    gpu.take(ButtonPressed(said["إعادة المحاولة"]))
    assert [job.device for job in gpu.waiting] == [Device.CPU, Device.CUDA]


@pytest.mark.parametrize(
    ("claims", "key"),
    [
        ((Claim.FASTER, Claim.SLOWER), "يختلف باختلاف الجهاز"),
        ((Claim.FASTER, Claim.FASTER), "واحد على الجهازين"),
    ],
)
def test_the_two_verdicts_stand_side_by_side(gpu: Conversation, claims: tuple[Claim, Claim], key: str) -> None:
    offered = buttons(gpu.take(CodeSent(TIMED)))
    gpu.take(ButtonPressed(offered["على كليهما"]))
    first = gpu.finish(lambda job: timed(job, claims[0]))
    assert key not in text(first)
    last = gpu.finish(lambda job: timed(job, claims[1]))
    assert key in text(last)
    assert gpu.session.pairs == ()


def test_a_side_that_did_not_end_well_is_said_to_have(gpu: Conversation) -> None:
    offered = buttons(gpu.take(CodeSent(TIMED)))
    gpu.take(ButtonPressed(offered["على كليهما"]))
    gpu.finish(timed)
    said = text(gpu.finish(lambda job: Result(job.id, job.kind, Ending.OOM_GPU, job.device)))
    assert "على الجهازين معًا" in said
    assert "ذاكرة بطاقة الرسوميات" in said
    assert "الحكم على" not in said


def test_an_example_for_both_can_be_run_on_both_with_its_own_limits(gpu: Conversation, course: Course) -> None:
    lesson = course.lessons[0]
    examples = tuple(each.model_copy(update={"devices": ("cpu", "cuda")}) for each in lesson.examples)
    gpu.course = course.model_copy(update={"lessons": (lesson.model_copy(update={"examples": examples}),)})
    gpu.take(ButtonPressed("1:ex:small:race"))
    (job,) = gpu.waiting
    offered = buttons(gpu.finish(timed))
    gpu.take(ButtonPressed(offered["على كليهما"]))
    assert [(each.device, each.limits) for each in gpu.waiting] == [
        (Device.CPU, job.limits),
        (Device.CUDA, job.limits),
    ]


@pytest.mark.parametrize(("wanted", "there", "gpus"), [(2, 1, 2), (2, 4, 2), ("all", 1, 1), ("all", 4, 4)])
def test_an_example_for_several_gpus_names_their_number_and_each_gets_the_examples_limits(
    course: Course, wanted: int | str, there: int, gpus: int
) -> None:
    lesson = course.lessons[0]
    examples = tuple(each.model_copy(update={"devices": ("cuda",), "gpus": wanted}) for each in lesson.examples)
    alone = next(each for each in examples if each.id == "race").memory_mib << 20
    whole = course.model_copy(update={"lessons": (lesson.model_copy(update={"examples": examples}),)})
    talk = Conversation(whole, replace(BOTH, device_count=there))
    talk.take(ButtonPressed("1:ex:small:race"))
    for _ in range(2):
        (job,) = talk.waiting
        assert (job.gpus, job.limits.memory_bytes) == (gpus, alone * gpus)
        assert job.limits.processes == limits_for(Device.CUDA, gpus).processes
        offered = buttons(talk.finish(timed))
        talk.take(ButtonPressed(next(payload for payload in offered.values() if ":again:" in payload)))


def test_a_run_that_wants_more_gpus_than_there_are_is_told_how_many_there_are(gpu: Conversation) -> None:
    offered = buttons(gpu.take(CodeSent(NAMED)))
    gpu.take(ButtonPressed(offered["على البطاقة"]))
    reached = Reached("gpus", 2, "count")
    said = text(gpu.finish(lambda job: Result(job.id, job.kind, Ending.TOO_FEW_GPUS, job.device, reached=reached)))
    assert "بطاقات رسوميات أكثر" in said
    assert "عدد بطاقات الرسوميات" in said


events = st.one_of(
    st.sampled_from((NAMED, TIMED, "print(1)", "x = “cuda”")).map(CodeSent),
    st.sampled_from(("على المعالج", "على البطاقة", "على كليهما", "إلغاء", "خرافة أم حقيقة", "حقيقة", "درس 2")).map(
        TextSent
    ),
    st.integers(0, 30),
    st.sampled_from((Ending.OK, Ending.INFRA_ERROR, Ending.CANCELLED, Ending.OOM_GPU)),
    st.sampled_from(("one", "both", "away", "reload")),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(events, max_size=30))
def test_no_sequence_of_events_leaves_half_a_pair_behind(
    course: Course, given_events: list[Event | int | Ending | str]
) -> None:
    lesson = course.lessons[0]
    examples = tuple(each.model_copy(update={"devices": ("cpu", "cuda")}) for each in lesson.examples)
    course = course.model_copy(
        update={"lessons": (lesson.model_copy(update={"examples": examples}), *course.lessons[1:])}
    )
    talk = Conversation(course, BOTH)
    seen: list[str] = []
    able = {"one": CAPABLE, "both": BOTH, "away": None}
    for event in given_events:
        said: tuple[Reply, ...] = ()
        match event:
            case int():
                said = talk.take(ButtonPressed(seen[-1 - event % len(seen)])) if seen else ()
            case Ending():
                said = talk.finish(lambda job, e=event: replace(timed(job), ending=e)) if talk.waiting else ()  # type: ignore[misc]
            case "reload":
                talk.course = course.model_copy(update={"hash": f"{len(seen):064d}"})
            case str():
                talk.capabilities = able[event]
            case _:
                said = talk.take(event)
        seen += buttons(said).values()
        session = talk.session
        assert from_json(to_json(session)) == session
        assert len(session.running) <= 2
        for pair in session.pairs:
            assert any(side.run in session.running for side in pair)
    while talk.waiting:
        talk.finish(lambda job: Result(job.id, job.kind, Ending.OK, stdout=Stream("x", bytes=1)))
    assert talk.session.pairs == ()
