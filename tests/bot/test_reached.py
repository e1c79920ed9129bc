"""What part of the machine a time reached, in words and as points under its roofs."""

from dataclasses import replace

from bot.engine.events import TextSent
from bot.engine.replies import Bullets, Roofline, Timings
from bot.testing import Conversation
from sandbox_runner.protocol import Ending, Job, Result, Variant

PRODUCT = Variant(
    "product", 1e6, 1e6, (1e6, 1e6), 20, 1, 1e6, flops=5e7, bytes=1e6, bound="compute", reached=0.5,
    peak_flops=1e11, peak_bytes=1e10,
)  # fmt: skip


def told(talk: Conversation, *variants: Variant) -> tuple[Roofline | None, str]:
    """Let a timing end with some variants; give its roofline and its sentences."""
    talk.take(TextSent("مثال 1"))
    replies = talk.finish(lambda job: timed(job, variants))
    blocks = [block for reply in replies for block in reply.blocks]
    (timings,) = [block for block in blocks if isinstance(block, Timings)]
    lines = [span.text for block in blocks if isinstance(block, Bullets) for item in block.items for span in item]
    return timings.roofline, " ".join(lines)


def timed(job: Job, variants: tuple[Variant, ...]) -> Result:
    return Result(job.id, job.kind, Ending.OK, variants=variants)


def test_a_product_is_a_point_under_its_roof_and_its_share_is_said(talk: Conversation) -> None:
    roofline, said = told(talk, PRODUCT)
    assert roofline is not None
    (point,) = roofline.points
    assert (point.name, point.intensity, point.rate, point.shown) == ("product", 50.0, 5e10, "50%")
    assert (roofline.compute, roofline.memory) == ((1e11,), 1e10)
    assert "50%" in said
    assert roofline.alt.endswith("product: 50%")


def test_what_is_bound_by_memory_and_has_no_counted_operations_is_said_but_has_no_point(talk: Conversation) -> None:
    roofline, said = told(talk, replace(PRODUCT, name="sum", flops=0.0, bound="memory", reached=0.3, peak_flops=0.0))
    assert roofline is None
    assert "30%" in said


def test_what_the_caches_bound_is_said_without_a_share_of_memory(talk: Conversation) -> None:
    roofline, said = told(talk, replace(PRODUCT, name="sum", flops=0.0, bound="cache", reached=0.0, peak_flops=0.0))
    assert roofline is None
    assert "cache" in said
    assert "%" not in said


def test_what_the_gpu_itself_worked_is_said_where_the_host_took_notably_longer(talk: Conversation) -> None:
    _, said = told(talk, replace(PRODUCT, gpu_ns=0.25e6), replace(PRODUCT, name="other", gpu_ns=0.98e6))
    assert said.count("CUDA") == 1
    assert "250 µs" in said


def test_nothing_is_said_or_drawn_where_no_ceiling_is_known(talk: Conversation) -> None:
    roofline, said = told(talk, replace(PRODUCT, bound="", reached=0.0, peak_flops=0.0, peak_bytes=0.0))
    assert roofline is None
    assert "%" not in said
