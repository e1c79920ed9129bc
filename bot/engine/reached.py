"""What part of what the machine can do a time reached, in words, and the roofline on which it lies.

Law: drawn and said only from ceilings that the runner measured on the same cores; a variant whose operations are not
counted (those outside products of matrices are not) has no point.
"""

from bot.engine.figures import duration, percent
from bot.engine.moment import Moment
from bot.engine.replies import Code, Number, Roofline, RoofPoint, Spans
from sandbox_runner.protocol import Result, Variant

_NAME = 60
_NS = 1e9
_BOUNDS = frozenset({"compute", "memory"})
_CACHE = "cache"
_NOTABLY = 0.9


def said(moment: Moment, result: Result) -> tuple[Spans, ...]:
    """Say for each variant which bound applies and what part of it was reached; of caches no ceiling is known."""
    return tuple(
        moment.words.say(
            f"time.reached_{variant.bound}",
            name=Code(variant.name[:_NAME]),
            part=Number(percent(min(variant.reached, 1.0))),
        )
        for variant in result.variants
        if variant.bound == _CACHE or (variant.bound in _BOUNDS and variant.reached > 0)
    )


def of_gpu(moment: Moment, result: Result) -> tuple[Spans, ...]:
    """Say what the GPU itself worked on a call, where the host took notably longer."""
    return tuple(
        moment.words.say(
            "time.gpu_own",
            name=Code(variant.name[:_NAME]),
            gpu_ns=Number(duration(variant.gpu_ns)),
            median_ns=Number(duration(variant.median_ns)),
        )
        for variant in result.variants
        if 0 < variant.gpu_ns < _NOTABLY * variant.median_ns
    )


def roofline(moment: Moment, result: Result) -> Roofline | None:
    """Give the roofline with the points that are known; None where there is no point or no roof over it."""
    known = [variant for variant in result.variants if _is_known(variant)]
    if not known:
        return None
    points = tuple(
        RoofPoint(
            name=variant.name[:_NAME],
            intensity=variant.flops / variant.bytes,
            rate=variant.flops / variant.median_ns * _NS,
            shown=percent(variant.reached),
        )
        for variant in known
    )
    words = moment.words
    return Roofline(
        points=points,
        compute=tuple(sorted({variant.peak_flops for variant in known})),
        memory=max(variant.peak_bytes for variant in known),
        across=words.text("roofline.across"),
        upward=words.text("roofline.upward"),
        alt=words.text("roofline.alt", points="، ".join(f"{point.name}: {point.shown}" for point in points)),
    )


def _is_known(variant: Variant) -> bool:
    figures = (variant.flops, variant.bytes, variant.median_ns, variant.peak_flops, variant.peak_bytes, variant.reached)
    return min(figures) > 0
