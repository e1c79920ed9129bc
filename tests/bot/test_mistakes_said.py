"""Mistakes of measuring in a result: at most three are said, each kind once, with its size where it was measured."""

from dataclasses import replace

import pytest

from bot.engine.events import TextSent
from bot.engine.replies import Bullets
from bot.testing import Conversation
from content.schema import Phrase
from sandbox_runner.mistakes import MISTAKES
from sandbox_runner.protocol import Ending, Flag, Job, Result, Variant

FIGURES: dict[str, str | int | float] = {
    "share": 0.62, "times": 3.5, "part": 0.2, "count": 4, "bytes": 4 << 20, "threads": 8, "cores": 2, "size": 100_000,
    "from_size": 1000, "what": "x", "how": "mean", "kind": "map", "name": "a", "own_ns": 3e9, "median_ns": 2e6,
    "compile_ns": 9e9, "error": 0.1,
}  # fmt: skip
"""Every figure that a mistake's flag may have."""


def bullets(talk: Conversation, *flags: Flag) -> list[str]:
    """Let a timing end with some flags, and give what is said of them."""

    def timed(job: Job) -> Result:
        variant = Variant("a", 1e6, 1e6, (1e6, 1e6), 9, 1, 1e6)
        return Result(job.id, job.kind, Ending.OK, variants=(variant,), flags=flags)

    talk.take(TextSent("مثال 1"))
    said = [block for reply in talk.finish(timed) for block in reply.blocks if isinstance(block, Bullets)]
    return ["".join(span.text for span in item) for item in said[-1].items]


def test_at_most_three_mistakes_are_said_in_their_order_and_other_remarks_after_them(talk: Conversation) -> None:
    codes = ("generator", "view_only", "own_summary", "scaler_bf16")
    flags = [Flag(code, FIGURES | {"mistake": MISTAKES[code].number}) for code in codes]
    said = bullets(talk, flags[0], replace(flags[0], line=9), *flags[1:], Flag("short_warmup"))
    assert len(said) == 4
    assert [word in line for word, line in zip(("map", "view", "mean", "لإحماء"), said, strict=True)] == [True] * 4


def test_a_measured_mistake_is_said_with_its_size_and_its_line(talk: Conversation) -> None:
    (said,) = bullets(talk, Flag("h2d_copy", {"name": "step", "share": 0.62, "mistake": 6}, 7))
    assert "62%" in said
    assert "step" in said
    assert said.endswith("(السطر 7)")


@pytest.mark.parametrize("code", MISTAKES)
@pytest.mark.parametrize("sized", [True, False])
def test_no_sentence_of_a_mistake_lacks_a_figure(
    talk: Conversation, phrases: dict[str, Phrase], code: str, *, sized: bool
) -> None:
    figures = FIGURES if sized else {k: v for k, v in FIGURES.items() if k not in {"share", "times"}}
    if not sized and f"flag.{code}_sized" not in phrases and "share}" in str(phrases[f"flag.{code}"]):
        pytest.fail("a sentence with a size needs one without")
    (said,) = bullets(talk, Flag(code, figures | {"mistake": MISTAKES[code].number}))
    assert "{" not in said
