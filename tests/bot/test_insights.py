# ruff: noqa: E501  (what is said is quoted whole)
"""A look inside a run: asked for under a timing, worded with the learner's lines, its kernels shown on a tap."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import pytest
from inline_snapshot import snapshot

from bot.adapters.shell import render
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.replies import Choices, CodeBlock, Reply
from bot.testing import CAPABLE, Conversation
from content import schema
from content.schema import Course
from sandbox_runner.protocol import (
    Break,
    Ending,
    Insight,
    Job,
    JobKind,
    Kernel,
    Operation,
    Product,
    Recompile,
    Result,
    Variant,
)

KERNEL = 'extern "C" void kernel(const float* in_ptr0, float* out_ptr0)\n{\n}'
SEEN = Insight(
    name="compiled",
    first_ns=2.1e9,
    again_ns=3e5,
    graphs=2,
    breaks=(Break("Unsupported Tensor.item() call: Dynamo does not support it", 6),),
    recompiles=(Recompile("chain", "tensor 'x' size mismatch at index 0. expected 32, actual 48", 4),),
    guards=("L['x']: float32 [48, 64]",),
    nodes=5,
    kernels=(Kernel("cpp_fused_add_0", "cpp", KERNEL),),
    libraries=("mm",),
    eager_kernels=6,
    peak_bytes=1 << 20,
    operations=(
        Operation("aten::mm", 1, 0.62),
        Operation("compiled kernels", 1, 0.2),
        Operation("سلسلة طويلة (line 4)", 1, 0.1),
        Operation("torch.compile around them", 1, 0.05),
        Operation("aten::sin", 1, 0.01),
    ),
    products=(Product("mm", "float32", "48×64 @ 64×64", 2),),
)


@pytest.fixture
def looking(talk: Conversation) -> Conversation:
    """A conversation with a runner that looks inside."""
    talk.capabilities = replace(CAPABLE, kinds=tuple(JobKind))
    return talk


def timed(job: Job) -> Result:
    """Time a job, or look inside it."""
    variants = tuple(Variant(name, 1e6, 1e6, (1e6, 1.1e6), 9, 1, 1e6) for name in ("loop", "array"))
    found = (SEEN,) if job.kind is JobKind.INSPECT else ()
    shown = variants if job.kind is JobKind.TIME else ()
    return Result(job.id, job.kind, Ending.OK, variants=shown, insights=found)


def pressed(talk: Conversation, label: str, replies: tuple[Reply, ...]) -> tuple[Reply, ...]:
    """Press the button with this label."""
    offered = [
        one for reply in replies for block in reply.blocks if isinstance(block, Choices) for one in block.choices
    ]
    return talk.take(ButtonPressed(next(one.payload for one in offered if one.label == label)))


def test_a_timing_offers_a_look_inside_and_the_look_is_worded(looking: Conversation) -> None:
    looking.take(TextSent("مثال 1"))
    pressed(looking, "السبب", looking.finish(timed))
    assert looking.waiting[-1].kind is JobKind.INSPECT
    said = looking.finish(timed)
    assert "\n".join(render.plain(reply) for reply in said) == snapshot("""\
# مثال `race`

# الصيغة `compiled`

انقطع الرسم الحسابي مرة واحدة (`graph break`): عندها يعود التنفيذ إلى Python ولا يُدمج ما قبلها بما بعدها.

- السطر 6: قراءة قيمة من الموتر إلى Python (مثل `.item()`)، ولا يعرف المترجم القيمة قبل التنفيذ. `Unsupported Tensor.item() call: Dynamo does not support it`

أُعيدت الترجمة مرة واحدة (`recompile`)، وكل ترجمة تأخذ ثوانيَ.

- السطر 4: `chain` — تغيّر حجم `x` في البعد 0: كان 32 فصار 48. الحل `dynamic=True` أو تثبيت الأحجام.

عدد العمليات قبل الدمج 6، وعدد النوى بعده 2: ما دُمج يقرأ الذاكرة ويكتبها مرة واحدة.

أين يذهب الزمن:

- `aten::mm`: 62%
- النوى المترجمة (`compiled kernels`): 20%
- `سلسلة طويلة` (السطر 4): 10%
- ما يحيط بالنوى المترجمة (`torch.compile`): 5%

ضرب المصفوفات والدقة التي نُفّذ بها:

- `mm` بدقة `float32`: `48×64 @ 64×64` ×2
- الرسوم الحسابية المترجمة: 2
- استدعاءات مكتبات جاهزة: 1
- عمليات حسابية في الكود كما كُتب: 6
- ذاكرة جديدة عند الذروة في استدعاء واحد: 1 MiB
- الاستدعاء الأول 2.10 s، والذي يليه 300 µs.
- شروط صلاحية ما تُرجم (`guards`): `x: float32 [48, 64]`

هذه نظرة إلى الداخل لا قياس: المراقبة نفسها تُبطئ الكود، والزمن الموثوق هو ما يعطيه القياس.

[1] عرض النواة
[2] إعادة القياس
[3] شرح المثال
[4] متابعة القراءة\
""")


def test_without_a_runner_that_looks_inside_none_is_offered(talk: Conversation) -> None:
    talk.take(TextSent("مثال 1"))
    labels = [
        choice.label
        for reply in talk.finish(timed)
        for block in reply.blocks
        if isinstance(block, Choices)
        for choice in block.choices
    ]
    assert "السبب" not in labels


def test_a_kernel_is_shown_as_code_and_where_there_is_none_that_is_said(looking: Conversation) -> None:
    looking.take(TextSent("مثال 1"))
    pressed(looking, "السبب", looking.finish(timed))
    said = pressed(looking, "عرض النواة", looking.finish(timed))
    blocks = [block for reply in said for block in reply.blocks]
    assert [block.code for block in blocks if isinstance(block, CodeBlock)] == [KERNEL]


def recorded(course: Course, example: schema.Example, device: Literal["cpu", "cuda"]) -> schema.RecordedMachine:
    """Give a machine that measured an example of the first lesson."""
    slug = course.lessons[0].slug
    ratio = schema.RecordedRatio(name="array", against="loop", point=0.5, low=0.49, high=0.51, claim="slower")
    run = schema.RecordedRun(
        lesson=slug, example=example.id, device=device, code=course.digest(slug, example), ending="ok",
        confirmed=True, checked="", noise=0.01, ratios=(ratio,),
    )  # fmt: skip
    return schema.RecordedMachine(
        title="A machine", cpu="a", cores=2, gpu="", devices=(device,), python="3", numpy="2", torch="2", kernel="6",
        recorded_at=datetime(2026, 5, 4, tzinfo=UTC), runs=(run,),
    )  # fmt: skip


def test_what_was_seen_before_stands_beside_a_timing_while_the_code_is_the_same(course: Course) -> None:
    machine = recorded(course, next(one for one in course.lessons[0].examples if one.kind == "time"), "cpu")
    for run, there in ((machine.runs[0], True), (machine.runs[0].model_copy(update={"code": "0" * 64}), False)):
        talk = Conversation(course.model_copy(update={"recorded": (machine.model_copy(update={"runs": (run,)}),)}))
        talk.take(TextSent("مثال 1"))
        said = "".join(render.plain(reply) for reply in talk.finish(timed))
        assert ("A machine" in said and "2026-05-04" in said) is there


def test_what_was_seen_on_a_gpu_is_shown_where_there_is_none(course: Course) -> None:
    lesson = course.lessons[0]
    example = next(one for one in lesson.examples if one.kind == "time").model_copy(update={"devices": ("cuda",)})
    lessons = (lesson.model_copy(update={"examples": (example,)}), *course.lessons[1:])
    machine = recorded(course, example, "cuda")
    talk = Conversation(course.model_copy(update={"recorded": (machine,), "lessons": lessons}))
    said = "".join(render.plain(reply) for reply in talk.take(TextSent("مثال 1")))
    assert "لذلك لم يُشغَّل" in said
    assert "A machine" in said
    assert not talk.waiting
