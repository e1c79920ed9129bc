"""What the explorers compute, held against the definitions and against numpy, and that they refuse what they must."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.events import ButtonPressed, TextSent
from bot.engine.explorers import break_even, floats, formats, loss_scaling, traffic
from bot.engine.explorers.floats import BFLOAT16, FLOAT16, FLOAT32, FORMATS
from bot.engine.explorers.loss_scaling import Fate, fate
from bot.engine.letters import figure
from bot.engine.replies import Bits, Choices, Paragraph
from bot.testing import Conversation
from content.schema import Course, Explorer

KINDS = ("amdahl", "formats", "loss_scaling", "traffic", "break_even")


def playing(course: Course, kind: str) -> Conversation:
    explorer = Explorer.model_validate({"kind": kind, "intro": "ما أثر ذلك؟"})
    lessons = tuple(lesson.model_copy(update={"explorer": explorer}) for lesson in course.lessons)
    talk = Conversation(course.model_copy(update={"lessons": lessons}))
    talk.take(TextSent("استكشاف"))
    return talk


@given(st.floats(allow_nan=False))
def test_float32_and_float16_are_numpys(number: float) -> None:
    with np.errstate(over="ignore"):
        assert floats.bits_of(FLOAT32, number) == int(np.float64(number).astype(np.float32).view(np.uint32))
        assert floats.bits_of(FLOAT16, number) == int(np.float64(number).astype(np.float16).view(np.uint16))


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_bfloat16_is_the_nearest_number_and_even_in_a_tie(number: float) -> None:
    bits = floats.bits_of(BFLOAT16, number)
    down = struct.unpack(">I", struct.pack(">f", number))[0] >> 16
    # Beyond the largest number stands the next power of two in place of inf (IEEE 754, 4.3.1).
    values = [
        math.copysign(2.0**128, number) if math.isinf(each := floats.value_of(BFLOAT16, b)) else each
        for b in (down, down + 1)
    ]
    away = [abs(Fraction(value) - Fraction(number)) for value in values]
    wanted = down + (away[1] < away[0] or (away[0] == away[1] and down % 2 == 1))
    assert bits == wanted


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (1.0 + 2.0**-8, 0x3F80),  # a tie, to even below
        (1.0 + 3 * 2.0**-8, 0x3F82),  # a tie, to even above
        (2.0**-133, 0x0001),  # the smallest
        (2.0**-134, 0x0000),  # half of it: a tie, to zero
        (3.3895313892515355e38, 0x7F7F),  # the largest
        (3.4e38, 0x7F80),
        (-1e300, 0xFF80),
        (math.nan, 0x7FC0),
    ],
)
def test_bfloat16_at_its_edges(number: float, bits: int) -> None:
    assert floats.bits_of(BFLOAT16, number) == bits


@pytest.mark.parametrize(
    ("form", "largest", "smallest_normal", "smallest"),
    [
        (FLOAT16, 65504.0, 2.0**-14, 2.0**-24),
        (FLOAT32, (2 - 2.0**-23) * 2.0**127, 2.0**-126, 2.0**-149),
        (BFLOAT16, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 2.0**-133),
    ],
)
def test_the_bounds_of_a_format_are_those_of_the_standard(
    form: floats.Format, largest: float, smallest_normal: float, smallest: float
) -> None:
    assert (form.largest, form.smallest_normal, form.smallest) == (largest, smallest_normal, smallest)


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(FORMATS))
def test_a_stored_number_is_one_of_the_format_and_lies_within_half_a_gap(number: float, form: floats.Format) -> None:
    kept = floats.stored(form, number)
    assert "".join(kept.fields) == f"{kept.bits:0{len(''.join(kept.fields))}b}"
    if math.isinf(kept.value):
        assert abs(number) > form.largest
        return
    assert floats.bits_of(form, kept.value) == kept.bits
    gap = max(kept.above, kept.below)
    # bfloat16 is rounded from float32, whose own rounding may add a little to half a gap.
    assert abs(floats.error_of(kept, number)) <= Fraction(gap) * Fraction(65, 128)


def test_a_number_at_a_power_of_two_has_two_gaps() -> None:
    kept = floats.stored(FLOAT16, 2048.0)
    assert (kept.above, kept.below) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("gradient", "scale", "wanted"),
    [
        (1e-8, 1, Fate.VANISHES),
        (3e-8, 1, Fate.LOSES),
        (1e-3, 1, Fate.STAYS),
        (1e-8, 65536, Fate.STAYS),
        (1.0, 65536, Fate.OVERFLOWS),
        (2.0**-24, 1, Fate.STAYS),  # below the normal range, yet exact
        (65519.0, 1, Fate.STAYS),
        (65520.0, 1, Fate.OVERFLOWS),
    ],
)
def test_what_becomes_of_a_gradient_is_what_rounding_makes_of_it(gradient: float, scale: float, wanted: Fate) -> None:
    assert fate(gradient, scale) is wanted


@given(st.sampled_from(loss_scaling.GRADIENTS), st.floats(1, 1e12))
def test_a_larger_scale_never_makes_a_gradient_vanish(gradient: float, scale: float) -> None:
    ladder = [fate(gradient, scale), fate(gradient, scale * 2)]
    assert (Fate.VANISHES in ladder) <= (ladder[0] is Fate.VANISHES)


def test_the_sample_spans_what_is_said_of_it() -> None:
    assert (min(loss_scaling.GRADIENTS), max(loss_scaling.GRADIENTS), len(loss_scaling.GRADIENTS)) == (1e-9, 1.0, 19)


def test_traffic_is_counted_in_reads_and_writes() -> None:
    assert traffic.moved(4, 5e7, 4) == traffic.Traffic(apart=1.6e9, fused=4e8)
    assert traffic.seconds(4e8, 100) == pytest.approx(4e-3)


@pytest.mark.parametrize(
    ("cost", "eager", "compiled", "wanted"),
    [
        (40, 30, 20, 4000),
        (1, 0.3, 0.1, 5000),
        (0, 2, 1, 0),
        (0, 1, 1, 0),
        (1, 1, 1, None),
        (0, 1, 2, None),
        (1, 3, 1, 500),
    ],
)
def test_break_even_is_exact_in_decimals(cost: float, eager: float, compiled: float, wanted: int | None) -> None:
    assert break_even.calls(cost, eager, compiled) == wanted


@given(st.integers(0, 10**4), st.integers(1, 10**5), st.integers(1, 10**5))
def test_break_even_is_the_first_call_count_at_which_compiling_took_no_longer(
    cost: int, eager: int, compiled: int
) -> None:
    needed = break_even.calls(cost, eager, compiled)
    if needed is None:
        assert compiled > eager or (compiled == eager and cost)
        return
    assert cost * 1000 + needed * compiled <= needed * eager
    assert needed == 0 or cost * 1000 + (needed - 1) * compiled > (needed - 1) * eager


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^16", 65536.0),
        ("2¹⁶", 65536.0),
        ("٢^-٢٤", 2.0**-24),
        ("2**-24", 2.0**-24),
        ("-2^3", -8.0),
        ("6.5×10^4", 65000.0),
        ("10⁻⁹", 1e-9),
        ("2^9999", math.inf),
        ("65,504", 65504.0),
        ("2^", None),
        ("2⁺⁻", None),
        ("3^4", None),
        ("x", None),
    ],
)
def test_a_power_is_read_as_it_is_written(text: str, value: float | None) -> None:
    assert figure(text) == value


@pytest.mark.parametrize(("text", "value"), [("inf", math.inf), ("-INF", -math.inf), ("∞", math.inf), ("سبعة", None)])
def test_infinity_is_a_number_here(text: str, value: float | None) -> None:
    assert formats.read(text) == value


def test_a_typed_number_is_shown_in_every_format(course: Course) -> None:
    (reply,) = playing(course, "formats").take(TextSent("1000.3"))
    block = next(block for block in reply.blocks if isinstance(block, Bits))
    assert [(row.name, row.shown) for row in block.rows] == [
        ("float32", "≈ 1,000.29999"),
        ("float16", "1,000.5"),
        ("bfloat16", "1,000"),
    ]
    assert [len(row.sign + row.exponent + row.fraction) for row in block.rows] == [32, 16, 16]


def test_settings_are_kept_by_lesson_and_outlive_other_work(course: Course) -> None:
    talk = playing(course, "traffic")
    talk.take(TextSent("n=5e7"))
    talk.take(ButtonPressed("1:play:second:k.16"))
    talk.take(TextSent("اختبار"))
    talk.take(ButtonPressed("1:play:small:bw"))
    assert {each.lesson: each.values for each in talk.session.played} == {
        "second": (16.0, 1e7, 4.0, 100.0),
        "small": (4.0, 5e7, 4.0, 100.0),
    }


def test_a_typed_number_goes_to_the_explorer_that_was_played_last(course: Course) -> None:
    talk = playing(course, "traffic")
    talk.take(ButtonPressed("1:play:second:k.16"))
    talk.take(TextSent("9"))
    assert [(each.lesson, each.values[0]) for each in talk.session.played] == [("second", 9.0)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", ["zz", "k.", "k.-1", "1e999", "c.nan", "scale.inf", "-", "bw.0", "k.2.5", "95"])
def test_no_forged_setting_breaks_an_explorer(course: Course, kind: str, option: str) -> None:
    talk = playing(course, kind)
    before = talk.session.played
    (reply,) = talk.take(ButtonPressed(f"1:play:small:{option}"))
    assert any(isinstance(block, Choices) for block in reply.blocks)
    for kept in talk.session.played:
        assert all(map(math.isfinite, kept.values))
    if len(reply.blocks) > 2 and isinstance(reply.blocks[0], Paragraph):
        assert talk.session.played == before


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(st.text("0123456789.-e^=kncbwsale ٣٥infa", max_size=12), max_size=6))
def test_any_typed_texts_leave_a_session_that_loads(course: Course, kind: str, texts: list[str]) -> None:
    talk = playing(course, kind)
    for text in texts:
        talk.take(TextSent(text))
        assert all(math.isfinite(value) for kept in talk.session.played for value in kept.values)


@pytest.mark.parametrize("kind", KINDS)
def test_every_button_of_an_explorer_leads_on(course: Course, kind: str) -> None:
    talk = playing(course, kind)
    (reply,) = talk.take(ButtonPressed("1:go:small.play:"))
    payloads = [c.payload for b in reply.blocks if isinstance(b, Choices) for c in b.choices if ":play:" in c.payload]
    assert len(payloads) >= 5
    for payload in payloads:
        (answer,) = talk.take(ButtonPressed(payload))
        assert answer.blocks[0].kind == "heading"
