"""The roofline in the web chat: points and roofs inside the drawing, whatever was measured."""

import math
import re

import pytest

from bot.adapters.web import roofline
from bot.engine.replies import Roofline, RoofPoint

BLOCK = Roofline(
    (RoofPoint("a <b>", 100.0, 6e10, "54%"),), (1e11, 2e11), 1e10, "عمليات لكل بايت", "عمليات في الثانية", "alt"
)


def drawn(*points: RoofPoint, compute: tuple[float, ...] = (1e11,), memory: float = 1e10) -> str:
    return str(roofline.figure(Roofline(points, compute, memory, "x", "y", "alt")))


def test_points_are_numbered_beside_their_names_which_are_escaped() -> None:
    html = str(roofline.figure(BLOCK))
    assert html.count('class="point"') == 1
    assert html.count('class="roof"') == 3
    assert "a &lt;b&gt;" in html
    assert "54%" in html
    assert "<b>" not in html


def test_axes_are_named_right_to_left_and_the_drawing_is_hidden_from_readers_of_the_screen() -> None:
    html = str(roofline.figure(BLOCK))
    assert html.count('direction="rtl"') == 2
    assert '<svg viewBox="0 0 360 230" width="100%" aria-hidden="true"' in html
    assert '<p class="unseen">alt</p>' in html


@pytest.mark.parametrize("value", [1e-5, 0.3, 1.0, 7e8, 1e29])
def test_every_figure_lies_inside_the_drawing(value: float) -> None:
    html = drawn(RoofPoint("a", value, 1.0, ""), RoofPoint("b", 1.0, value, ""), compute=(value, 1e11), memory=3.0)
    figures = {"x": 360.0, "y": 230.0}
    found = re.findall(r'\bc?([xy])[12]?="([^"]+)"', html)
    assert len(found) > 20
    assert all(-1 <= float(number) <= figures[axis] for axis, number in found)
    assert "nan" not in html
    assert "inf" not in html


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_is_no_point_and_no_roof_is_not_drawn(value: float) -> None:
    point = RoofPoint("a", 1.0, 1e9, "")
    assert drawn(RoofPoint("a", value, 1e9, "")) == ""
    assert drawn(point, compute=(value,)) == ""
    assert drawn(point, memory=value) == ""
    assert drawn(point, RoofPoint("b", 1.0, value, "")).count('class="point"') == 1
