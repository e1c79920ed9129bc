"""What Discord's clients make of drawn calls: Markdown, the direction of a text, rows that fit a telephone."""

import pytest

from bot.adapters.discord import render, showing
from bot.adapters.discord.drafts import TextDraft
from bot.engine.replies import Choice, Choices, Code, CodeBlock, Paragraph, Reply, Text
from bot.posting.looks import Look


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**غليظ** و`x` و``a `b` c``", "<strong>غليظ</strong> و<code>x</code> و<code>a `b` c</code>"),
        (r"\*نجمة\* \_x\_ a \< b", "*نجمة* _x_ a &lt; b"),
        ("قبل\n```python\na < b\n```\nبعد", "قبل<pre><code>a &lt; b</code></pre>بعد"),
        ("[كلمة](<https://docs.python.org/3/>)", '<a href="https://docs.python.org/3/">كلمة</a>'),
        ("# عنوان", '<b class="dc-head">عنوان</b>'),
        ("- بند\n> نقل", '<span class="dc-item">بند</span>\n<span class="dc-quote">نقل</span>'),
        ("<@12> @everyone", '<mark class="dc-ping">&lt;@12&gt;</mark> <mark class="dc-ping">@everyone</mark>'),
        ("<script>", "&lt;script&gt;"),
    ],
)
def test_the_markdown_is_read_as_the_platform_reads_it(text: str, html: str) -> None:
    assert showing.read(text) == html


def test_a_text_has_the_direction_of_its_first_strong_letter() -> None:
    texts = ("نص", "x نص", "🎯 نص", "🎯", "\u061c```x```", "\u2066x\u2069 نص")
    assert [showing.direction(text) for text in texts] == ["rtl", "ltr", "rtl", "ltr", "rtl", "ltr"]


def test_what_our_adapter_writes_has_no_mark_left_and_stands_right_to_left() -> None:
    wild = "*a* _b_ ~~c~~ ||d|| `e` <@1> @everyone https://x.example # - > 1. \\ [x](y)"
    drafts = render.drafts(Reply((Paragraph((Text(wild), Code("x`y"))), CodeBlock("a```b"))), Look())
    (draft,) = drafts
    assert isinstance(draft, TextDraft)
    shown = showing.laid_out(drafts)
    assert "direction:rtl" in shown
    assert not any(
        tag in shown for tag in ("<mark", "<em", "<s>", "<del", "<u>", "<strong", "<a ", "dc-head", "dc-item")
    )


def labels(*rows: Choices) -> list[list[str]]:
    (draft,) = render.drafts(Reply((Paragraph((Text("نص"),)), *rows)), Look())
    return [[button.text for button in row] for row in draft.keyboard]


def choices(*names: str, columns: int = 1, at: int = 0) -> Choices:
    return Choices(tuple(Choice(name, f"1:ans:a:{at + number}") for number, name in enumerate(names)), columns)


def test_rows_that_fit_a_telephone_begin_at_the_right_and_wide_ones_break_in_order() -> None:
    assert labels(choices("نعم", "لا", columns=2)) == [["لا", "نعم"]]
    long = [f"خيار طويل لا يتسع له الصف {letter}" for letter in "أبجدهوز"]
    assert labels(choices(*long[:5], columns=2)) == [[each] for each in long[:5]]
    # Seven long ones in five rows: those that share a row break below each other, so they stand in their own order.
    assert [name for row in labels(choices(*long)) for name in row] == long


def test_more_rows_than_the_platform_takes_are_made_fewer_from_the_shortest() -> None:
    long = [f"قياس: مثال له عنوان طويل {letter}" for letter in "أبجد"]
    made = labels(choices(*long), choices("التالي", "السابق", columns=1, at=10))
    assert made == [[each] for each in long] + [["السابق", "التالي"]]
    many = [f"{number}" for number in range(25)]
    assert [len(row) for row in labels(choices(*many))] == [5] * 5
