import base64
import re
import struct
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.web import files, isolates, render
from bot.adapters.web.colour import coloured
from bot.engine import replies
from bot.engine.replies import Code, Link, Number, Reply, Strong, Text
from bot.ports import Shown

LOOK = render.Look(
    {"web.code": "كود", "web.time": "الزمن", "web.download": "تنزيل"},
    "/pictures/abc/",
    {"v/p.png": (900, 420), "v/p_dark.png": (900, 420)},
)
TAGS = frozenset(
    "article h2 p ul ol li figure figcaption pre code bdi strong a img picture source span ins del div button progress "
    "table caption thead tbody tr th td svg g rect line".split()
)
ATTRIBUTES = frozenset(
    "class id dir tabindex role href target rel download src srcset media alt width height decoding scope type max "
    "value data-number data-change data-press data-language data-mark aria-label aria-hidden aria-current "
    "viewbox preserveaspectratio focusable x y x1 y1 x2 y2 vector-effect".split()
)
VOID = frozenset({"img", "source", "rect", "line"})
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 40, 30) + b"\x08\x02\x00\x00\x00"


class Strict(HTMLParser):
    """Reads a fragment; refuses tags and attributes that the renderer has no use for, and tags left open."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.values: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            self.values.append((name, value or ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def _read(html: str) -> Strict:
    parser = Strict()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def _render(*blocks: replies.Block) -> str:
    return str(render.reply(Reply(blocks), LOOK))


HOSTILE = st.text() | st.sampled_from(
    [
        "<script>alert(1)</script>",
        '" onmouseover="alert(1)',
        "'><img src=x onerror=alert(1)>",
        "</code></pre><b>",
        "<!--",
    ]
)
SPAN = (
    st.builds(Text, HOSTILE)
    | st.builds(Code, HOSTILE)
    | st.builds(Number, HOSTILE)
    | st.builds(Strong, HOSTILE)
    | st.builds(Link, HOSTILE, HOSTILE | st.just("https://example.org/?a=1&b=2"))
)
SPANS = st.lists(SPAN, max_size=3).map(tuple)
FIGURE = st.floats()
BLOCK = st.one_of(
    st.builds(replies.Heading, SPANS),
    st.builds(replies.Paragraph, SPANS),
    st.builds(replies.Bullets, st.lists(SPANS, max_size=2).map(tuple), st.booleans()),
    st.builds(replies.CodeBlock, HOSTILE, st.sampled_from(["python", "text", "diff", "pytb"]) | HOSTILE, HOSTILE),
    st.builds(replies.Picture, HOSTILE | st.just("v/p.png"), HOSTILE, SPANS),
    st.builds(replies.Attachment, HOSTILE, HOSTILE | st.just("image/png"), HOSTILE),
    st.builds(
        replies.Timings,
        st.lists(st.builds(replies.TimingRow, HOSTILE, FIGURE, FIGURE, FIGURE, HOSTILE, HOSTILE), max_size=2).map(
            tuple
        ),
        st.lists(
            st.builds(replies.RatioRow, HOSTILE, HOSTILE, FIGURE, FIGURE, FIGURE, HOSTILE, HOSTILE, HOSTILE, SPANS),
            max_size=2,
        ).map(tuple),
        SPANS,
        HOSTILE,
    ),
    st.builds(
        replies.Bits,
        st.lists(st.builds(replies.BitsRow, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE), max_size=3).map(tuple),
        st.tuples(HOSTILE, HOSTILE, HOSTILE),
        HOSTILE,
    ),
    st.builds(
        replies.Steps,
        st.lists(
            st.builds(
                replies.Step, HOSTILE, st.sampled_from(["past", "now", "ahead"]), st.integers(-5, 9), st.integers(-5, 9)
            ),
            max_size=2,
        ).map(tuple),
    ),
    st.builds(
        replies.Choices,
        st.lists(st.builds(replies.Choice, HOSTILE, HOSTILE), max_size=3).map(tuple),
        st.integers(-3, 99),
    ),
)


@given(st.lists(BLOCK, max_size=4))
def test_nothing_that_a_reply_holds_becomes_markup(blocks: list[replies.Block]) -> None:
    read = _read(str(render.article(Shown(1, 2, "", Reply(tuple(blocks))), LOOK)))
    for name, value in read.values:
        if name == "href":
            assert re.match(
                r"https?://|mailto:|data:application/octet-stream;base64,[A-Za-z0-9+/=]*$", value, re.IGNORECASE
            )
        if name == "src":
            assert value.startswith(("/pictures/abc/", "data:image/png;base64,"))


@given(HOSTILE, st.sampled_from(["python", "text", "diff", "pytb"]))
def test_coloured_code_reads_as_the_code(code: str, language: str) -> None:
    code = re.sub(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "", code)
    if language == "pytb":
        code = code.rstrip("\n")
    text = "".join(_read(str(coloured(code, language))).text)
    assert text == code


@pytest.mark.parametrize(
    "code",
    ['"' * 39_999, "'\\" * 19_999, '"""' + "a" * 39_000, "rb" * 19_000, "@." * 19_000, "1e" * 19_000, "((" * 19_000],
)
def test_colouring_hostile_code_ends(code: str) -> None:
    assert "".join(_read(str(coloured(code, "python"))).text) == code


def test_marks_that_turn_code_around_are_made_visible() -> None:
    html = str(coloured("x = 1 \u202e# 2", "python"))
    assert "\u202e" not in html
    assert 'data-mark="U+202E"' in html


def test_code_numbers_and_runs_of_latin_are_isolated_left_to_right() -> None:
    html = _render(replies.Paragraph((Text("الشكل "), Code("(3, 4)"), Text(" والفرق "), Number("-1"))))
    assert html == ('<p>الشكل <code dir="ltr">(3, 4)</code> والفرق <bdi dir="ltr" class="number">-1</bdi></p>')


def test_a_variant_with_an_arabic_name_is_no_mono_code_in_its_table_either() -> None:
    row = replies.TimingRow("كود البداية", 2e6, 1e6, 3e6, "2 ms", "")
    html = _render(replies.Timings((row,), (), (Text("جهاز"),), "أزمنة"))
    assert '<th scope="row"><bdi dir="auto" class="quoted">كود البداية</bdi></th>' in html


def test_only_code_that_may_be_longer_than_a_line_is_a_box_around_which_lines_break() -> None:
    html = _render(replies.Paragraph((Text("("), Code("SIMD"), Text(") "), Code("x" * 40))))
    assert html == f'<p>(<code dir="ltr">SIMD</code>) <code dir="ltr" class="long">{"x" * 40}</code></p>'


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("العودة إلى (3, 4).", ["(3, 4)"]),
        ("القسم 3: التخزين", ["3"]),
        ("[0, 1, 2]", ["[0, 1, 2]"]),
        ("-1", ["-1"]),
        ("خطأ TypeError هنا", ["TypeError"]),
        ("زيادة 5 %", ["5 %"]),
        ("المقياس 2¹⁶", ["2¹⁶"]),
        ("2⁻²⁴", ["2⁻²⁴"]),
        ("لا أعرف", []),
    ],
)
def test_runs_of_latin_in_a_label_keep_their_order(text: str, runs: list[str]) -> None:
    html = str(isolates.label(text))
    assert re.findall(r'<bdi dir="ltr">([^<]*)</bdi>', html) == runs
    assert "".join(_read(html).text) == text


def test_a_label_that_is_code_is_set_as_code() -> None:
    assert str(isolates.label("np.vectorize(f)(x)")) == '<code dir="ltr">np.vectorize(f)(x)</code>'
    address = "docs.pytorch.org/tutorials/intermediate/memory_format.html"
    assert str(isolates.label(address)) == f'<code dir="ltr" class="long">{address}</code>'
    assert str(isolates.label("50 %")) == '<bdi dir="ltr">50 %</bdi>'


def test_what_a_learner_wrote_in_arabic_keeps_its_direction_when_it_is_quoted() -> None:
    html = _render(replies.Paragraph((Text("لم يُفهم "), Code("ليش numpy أسرع؟"))))
    assert '<bdi dir="auto" class="quoted">ليش numpy أسرع؟</bdi>' in html


def test_a_link_leads_only_to_an_address_of_the_web() -> None:
    assert "<a " not in _render(replies.Paragraph((Link("هنا", "javascript:alert(1)"),)))
    assert 'rel="noopener noreferrer"' in _render(replies.Paragraph((Link("هنا", "https://numpy.org/doc"),)))


def test_a_picture_has_both_faces_its_size_and_its_words() -> None:
    html = _render(replies.Picture("v/p.png", "وصف", (Text("شرح"),)))
    assert 'srcset="/pictures/abc/v/p_dark.png"' in html
    assert 'src="/pictures/abc/v/p.png" alt="وصف" width="900" height="420"' in html


def test_a_picture_that_the_course_no_longer_has_leaves_its_words() -> None:
    html = _render(replies.Picture("v/gone.png", "وصف"))
    assert "<img" not in html
    assert "وصف" in html


def test_a_figure_that_a_run_left_is_shown_and_offered() -> None:
    html = _render(replies.Attachment("figure 1.png", "image/png", base64.b64encode(PNG).decode()))
    assert '<img src="data:image/png;base64,' in html
    assert 'download="figure_1.png"' in html


def _sized(width: int, height: int) -> bytes:
    return PNG[:16] + struct.pack(">II", width, height) + PNG[24:]


@pytest.mark.parametrize(
    ("media", "data"),
    [
        ("image/svg+xml", b"<svg onload='alert(1)'/>"),
        ("text/html", b"<script>alert(1)</script>"),
        ("image/png", b"<script>alert(1)</script>"),
        ("image/png", _sized(100_000, 100_000)),
        ("image/png", _sized(0, 10)),
        ("image/gif", PNG),
    ],
)
def test_what_is_no_sound_picture_is_only_offered(media: str, data: bytes) -> None:
    html = _render(replies.Attachment("x", media, base64.b64encode(data).decode()))
    assert "<img" not in html
    assert 'href="data:application/octet-stream;base64,' in html


def test_a_name_of_a_file_is_bare_and_safe() -> None:
    names = ["../../etc/passwd", "/a/b.txt", "..", "", "م.csv", 'a" onclick="x', "x" * 300]
    assert [files.safe_name(name) for name in names] == [
        "passwd",
        "b.txt",
        "file",
        "file",
        "csv",
        "a_onclick_x",
        "x" * 80,
    ]


def _timings(rows: list[tuple[float, float, float]]) -> str:
    made = tuple(replies.TimingRow(f"v{i}", *figures, "1 ms") for i, figures in enumerate(rows))
    return _render(replies.Timings(made, (), (), "أزمنة"))


def test_bars_grow_from_the_right_in_proportion_and_carry_their_interval() -> None:
    html = _timings([(100.0, 90.0, 125.0), (25.0, 24.0, 26.0)])
    fills = re.findall(r'class="fill" x="([\d.]+)" y="3" width="([\d.]+)"', html)
    assert fills == [("200.0", "800.0"), ("800.0", "200.0")]
    assert '<line x1="0.0" y1="10.0" x2="280.0" y2="10.0"' in html


@given(st.lists(st.tuples(FIGURE, FIGURE, FIGURE), min_size=1, max_size=3))
def test_bars_stay_inside_their_drawing_whatever_was_measured(rows: list[tuple[float, float, float]]) -> None:
    html = _timings(rows)
    for x, width in re.findall(r'class="fill" x="([^"]+)" y="3" width="([^"]+)"', html):
        assert 0 <= float(x) <= 1000
        assert 0 < float(width) <= 1000
    for x in re.findall(r' x[12]="([^"]+)"', html):
        assert 0 <= float(x) <= 1000


def test_the_bits_of_a_number_are_a_table_from_left_to_right_with_its_fields_named() -> None:
    row = replies.BitsRow("float16", "0", "01011", "1001100110", "≈ 0.099976")
    html = _render(replies.Bits((row,), ("الإشارة", "الأس", "الكسر"), "بتات 0.1"))
    assert '<table dir="ltr" role="table"><caption class="unseen" dir="rtl">بتات 0.1</caption>' in html
    assert re.findall(r'<td class="bit-(\w+)" role="cell">(\d+)</td>', html) == [
        ("sign", "0"),
        ("exponent", "01011"),
        ("fraction", "1001100110"),
    ]
    assert html.count("الأس") == 2


def test_a_step_under_way_shows_how_far_it_is() -> None:
    html = _render(replies.Steps((replies.Step("القياس", "now", 12, 40), replies.Step("الجمع", "ahead"))))
    assert 'aria-current="step"' in html
    assert '<progress max="40" value="12"' in html


@pytest.mark.parametrize("columns", [-1, 0, 1, 4, 99])
def test_buttons_stand_in_one_to_four_columns(columns: int) -> None:
    html = _render(replies.Choices((replies.Choice("نعم", "1:fix:a:yes"),), columns))
    assert re.search(r'class="choices columns-[1-4]"', html)
    assert 'data-press="1:fix:a:yes"' in html


@pytest.mark.parametrize("make", [isolates.label, lambda text: coloured(text, "python")])
def test_plain_text_survives(make: Callable[[str], str]) -> None:
    assert "".join(_read(str(make("a < b && 'c' ≥ ٣"))).text) == "a < b && 'c' ≥ ٣"


def test_the_placeholder_of_an_empty_line_is_drawn_right_to_left() -> None:
    page = (Path(__file__).resolve().parents[3] / "bot/adapters/web/static/page.css").read_text(encoding="utf-8")
    assert "#line:placeholder-shown { direction: rtl" in page
