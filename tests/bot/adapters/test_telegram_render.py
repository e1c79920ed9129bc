"""Replies as calls of the Bot API, held against TDLib's own parser."""

import base64
import re
from collections.abc import Iterator

import pytest
from botapi import oracle

from bot import rehearsal
from bot.adapters.telegram import render, showing
from bot.adapters.telegram.drafts import Draft, FileDraft, PhotoDraft, TextDraft
from bot.app import SystemDice
from bot.engine import replies
from bot.engine.replies import (
    Attachment,
    Bullets,
    Choice,
    Choices,
    Code,
    CodeBlock,
    Heading,
    Link,
    Number,
    Paragraph,
    Picture,
    Reply,
    Step,
    Steps,
    Strong,
    Text,
    TimingRow,
    Timings,
)
from bot.engine.wording import Wording
from bot.posting.looks import Look
from content.schema import Course

LTR, END, ALM = "\u2066", "\u2069", "\u061c"
FORBIDDEN = re.compile("[\u200e\u200f\u202a-\u202e]")
ARABIC = re.compile("[\u0620-\u064a]")
LINKS = {"url", "mention", "hashtag", "cashtag", "bot_command", "email", "phone_number", "bank_card"}
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def look(course: Course) -> Look:
    words = {key: Wording(course.phrases).text(key) for key in render.WORDS}
    return Look(words, course.pictures)


def texts(made: Draft) -> str:
    return made.html if isinstance(made, TextDraft) else made.caption


def faults(made: Draft, *, links: bool = False) -> Iterator[str]:
    """Say what the platform, or our own rules, would find wrong with a call."""
    source = texts(made)
    parsed = oracle.html(source)
    limit = 4096 if isinstance(made, TextDraft) else 1024
    if len(parsed.text) > limit or len(source.encode()) > 32_768:
        yield f"too long: {len(parsed.text)}"
    if isinstance(made, TextDraft) and not parsed.text.strip():
        yield "empty"
    if len(parsed.marks) > 100:
        yield f"{len(parsed.marks)} entities"
    if FORBIDDEN.search(source):
        yield "a forbidden mark"
    for mark in parsed.marks:
        if mark.kind in LINKS and not links:
            yield f"{mark.kind}: {cut(parsed.text, mark)!r}"
        if mark.kind == "code" and re.search("[\u061c\u2066-\u2069]", cut(parsed.text, mark)):
            yield f"a mark inside code: {cut(parsed.text, mark)!r}"
    yield from directions(parsed)
    for row in made.keyboard:
        if not row or len(row) > 8:
            yield f"a row of {len(row)}"
        for button in row:
            if not 1 <= len(button.payload.encode()) <= 64 or not button.text.strip():
                yield f"a button: {button}"


def cut(text: str, mark: oracle.Mark) -> str:
    units = text.encode("utf-16-le")
    return units[2 * mark.offset : 2 * (mark.offset + mark.length)].decode("utf-16-le")


def directions(parsed: oracle.Parsed) -> Iterator[str]:
    """Look at each line outside of blocks: how it begins, and whether isolates are paired."""
    units = parsed.text.encode("utf-16-le")
    for mark in parsed.marks:
        if mark.kind == "pre":
            blank = b"x\0" * mark.length
            units = units[: 2 * mark.offset] + blank + units[2 * (mark.offset + mark.length) :]
    for line in units.decode("utf-16-le").split("\n"):
        if not line or set(line) == {"x"}:
            continue
        if not (line.startswith(ALM) or ARABIC.match(line.lstrip())):
            yield f"a line begins with {line[:12]!r}"
        depth = 0
        for char in line:
            depth += (char in "\u2066\u2067\u2068") - (char == END)
            if depth not in {0, 1}:
                yield f"isolates are not paired: {line!r}"
                break


def one(reply: Reply, using: Look | None = None) -> Draft:
    (made,) = render.drafts(reply, using or Look())
    assert list(faults(made, links=True)) == []
    return made


def html_of(*spans: replies.Span) -> str:
    return texts(one(Reply((Paragraph(spans),))))


def test_every_stop_of_every_lesson_keeps_the_limits_and_links_nothing(own_course: Course) -> None:
    using, dice = look(own_course), SystemDice()
    found: list[str] = []
    seen = 0
    for lesson in own_course.lessons:
        for press, said in rehearsal.shown(own_course, lesson.slug, dice):
            for reply in said:
                made = render.drafts(reply, using)
                assert made, press
                seen += len(made)
                links = any(isinstance(span, Link) for span in spans_of(reply))
                found += [f"{lesson.slug} {press}: {fault}" for draft in made for fault in faults(draft, links=links)]
    assert found == []
    assert seen > 300


def spans_of(reply: Reply) -> Iterator[replies.Span]:
    for block in reply.blocks:
        yield from getattr(block, "spans", ())


def test_every_phrase_keeps_the_limits_and_links_nothing(own_course: Course) -> None:
    words = Wording(own_course.phrases)
    found: list[str] = []
    for key in own_course.phrases:
        for n in (0, 1, 2, 5, 11, 100):
            for made in render.drafts(Reply((Paragraph(words.say(key, n=n)),)), Look()):
                found += [f"{key}: {fault}" for fault in faults(made)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "np.dot و x.to و torch.save و main.py و model.pt",
        "استعمال @njit أو user@host.com",
        "الأمر /start ثم #وسم و$USD",
        "الرقم 4111 1111 1111 1111 والعنوان 10.0.0.1",
        "http://example.com/a?b=1 وأيضًا tg://resolve?domain=x",
        "جملة.مصر وموقع.السعودية و例え.jp",
        "t.me/joinchat و_a.com_ و(b.org) و«c.net»",
        "a.b.c.d@e.f و www.x.io:80/path",
        "..a.py و-x.to- و x.sum().item()",
        "torch.nn.functional.scaled_dot_product_attention",
        "كلمة@اسم_مستخدم و@channel_name!",
    ],
)
def test_what_a_learner_wrote_pings_nobody_and_links_nothing(text: str) -> None:
    for spans in ((Text(text),), (Strong(text),), (Code(text),), (Text("قال: "), Strong(text))):
        for block in (Paragraph(spans), Heading(spans), Bullets((spans,)), Steps((Step(text, "now"),))):
            (made,) = render.drafts(Reply((block,)), Look())
            assert list(faults(made)) == []


def test_code_keeps_its_order_inside_arabic() -> None:
    assert html_of(Text("الشكل "), Code("(3, 4)")) == f"الشكل {LTR}<code>(3, 4)</code>{END}"


def test_a_signed_number_a_range_and_a_percentage_in_prose_are_isolated() -> None:
    shown = html_of(Text("بين -1 و5–7 أي 12.5% والشكل (2, 3)"))
    assert shown == f"بين {LTR}-1{END} و{LTR}5–7{END} أي {LTR}12.5%{END} والشكل {LTR}(2, 3){END}"


def test_a_line_that_begins_with_code_is_marked_arabic() -> None:
    assert html_of(Code("x"), Text(" متغير")).startswith(ALM)


def test_text_is_escaped_and_nothing_else_is() -> None:
    assert html_of(Text("أصغر < أكبر > و & و \" و '")) == "أصغر &lt; أكبر &gt; و &amp; و \" و '"


def test_marks_of_direction_in_a_learners_text_are_dropped() -> None:
    assert html_of(Text("اسم \u202eمقلوب\u202c \u2067هنا")) == "اسم مقلوب هنا"


def test_half_a_surrogate_pair_and_controls_do_not_break_a_call() -> None:
    for text in ("قبل \ud83d بعد", "قبل \x00\x07 بعد"):
        assert html_of(Text(text))
        one(Reply((CodeBlock(text, "text"),)))


def test_a_block_of_python_names_its_language() -> None:
    assert texts(one(Reply((CodeBlock("x < 1\n"),)))) == '<pre><code class="language-python">x &lt; 1</code></pre>'


def test_blocks_share_a_text_and_the_buttons_stand_under_it() -> None:
    made = one(
        Reply((Heading((Text("عنوان"),)), Paragraph((Text("نص"),)), Choices((Choice("التالي", "1:cmd:next:"),))))
    )
    assert texts(made) == "<b>عنوان</b>\n\nنص"
    assert [[button.payload for button in row] for row in made.keyboard] == [["1:cmd:next:"]]


def test_buttons_stand_under_the_last_part_alone() -> None:
    reply = Reply((Paragraph((Text("نص"),)), Picture("a.png", "صورة"), Choices((Choice("نعم", "1:cmd:next:"),))))
    long = Reply((Paragraph((Text("نص طويل " * 140),)), *reply.blocks[1:]))
    first, last = render.drafts(long, Look(pictures={"a.png": PNG}))
    assert (first.keyboard, isinstance(last, PhotoDraft), bool(last.keyboard)) == ((), True, True)
    (only,) = render.drafts(reply, Look(pictures={"a.png": PNG}))
    assert isinstance(only, PhotoDraft)
    assert (only.caption, bool(only.keyboard)) == ("نص\n\nصورة", True)


def test_the_first_button_of_a_row_stands_at_its_right_end() -> None:
    made = one(Reply((Paragraph((Text("؟"),)), Choices((Choice("نعم", "1:ans:a:y"), Choice("لا", "1:ans:a:n")), 2))))
    assert [[button.text for button in row] for row in made.keyboard] == [["لا", "نعم"]]


def test_long_labels_get_rows_of_their_own() -> None:
    choices = tuple(Choice("خيار طويل لا يتسع له نصف السطر", f"1:ans:a:{i}") for i in range(3))
    assert [len(row) for row in one(Reply((Choices(choices, 3),))).keyboard] == [1, 1, 1]


def test_a_label_isolates_what_reads_left_to_right() -> None:
    made = one(Reply((Choices((Choice("تشغيل x.sum()", "1:cmd:run:"), Choice("(3, 4)", "1:cmd:run:"))),)))
    assert [row[0].text for row in made.keyboard] == [f"تشغيل {LTR}x.sum(){END}", f"{ALM}{LTR}(3, 4){END}"]


def test_a_long_reply_is_split_between_blocks() -> None:
    paragraphs = tuple(Paragraph((Text("كلمة " * 150), Code("x"))) for _ in range(12))
    made = render.drafts(Reply((*paragraphs, Choices((Choice("التالي", "1:cmd:next:"),)))), Look())
    assert len(made) == 3
    assert [fault for draft in made for fault in faults(draft)] == []
    assert [bool(draft.keyboard) for draft in made] == [False, False, True]


def test_a_text_of_many_code_spans_keeps_its_formatting() -> None:
    spans = tuple(span for i in range(250) for span in (Text("ثم "), Code(f"x{i}"), Text(" ")))
    made = render.drafts(Reply((Paragraph(spans),)), Look())
    assert [fault for draft in made for fault in faults(draft)] == []
    assert sum(texts(draft).count("<code>") for draft in made) == 250


def test_output_too_long_for_a_chat_goes_out_as_a_file_with_its_end_shown() -> None:
    lines = "\n".join(f"السطر {i} <&>" for i in range(2000))
    text, file = render.drafts(Reply((CodeBlock(lines, "text", "المخرجات"),)), Look())
    assert list(faults(text)) == []
    assert "السطر 1999" in texts(text)
    assert "السطر 0" in texts(text)
    assert isinstance(file, FileDraft)
    assert (file.name, file.content.decode()) == ("output.txt", lines)


def test_a_line_without_a_single_break_is_cut_too() -> None:
    made = render.drafts(Reply((CodeBlock("&" * 50_000, "text"),)), Look())
    assert [fault for draft in made for fault in faults(draft)] == []


def test_a_bomb_that_calls_itself_a_picture_goes_out_as_a_file() -> None:
    bomb = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (60_000).to_bytes(4, "big") * 2 + b"\0" * 20
    made = one(Reply((Attachment("../../.x/fig.png", "image/png", base64.b64encode(bomb).decode()),)))
    assert isinstance(made, FileDraft)
    assert made.name == "fig.png"


def test_a_sound_picture_is_shown() -> None:
    made = one(Reply((Attachment("fig.png", "image/png", base64.b64encode(PNG).decode()),)))
    assert isinstance(made, PhotoDraft)


def test_a_link_of_the_course_is_a_link_and_any_other_is_words() -> None:
    assert '<a href="https://numpy.org/">' in html_of(Text("من "), Link("numpy", "https://numpy.org/"))
    assert "<a" not in html_of(Text("من "), Link("هنا", "javascript:alert(1)"))


def test_the_same_reply_has_the_same_digest_and_another_button_another() -> None:
    def digest(payload: str) -> str:
        return one(Reply((Paragraph((Text("نص"), Number("-1"))), Choices((Choice("نعم", payload),))))).digest

    assert digest("1:cmd:next:") == digest("1:cmd:next:") != digest("1:cmd:back:")


def test_a_path_is_one_piece_of_code_wherever_it_stands() -> None:
    title = texts(one(Reply((CodeBlock("x = 1", "python", "total/starter.py"),))))
    assert title.startswith(f"{ALM}{LTR}<code>total/starter.py</code>{END}")
    assert f"{LTR}<code>lessons/a/b.py</code>{END}" in html_of(Text("في الملف lessons/a/b.py هنا"))


def test_each_time_under_the_bars_stands_in_a_line_of_its_own_beside_its_name() -> None:
    rows = (TimingRow("loop", 2.5e6, 2.4e6, 2.6e6, "2.5 ms"), TimingRow("array", 2e4, 1.9e4, 2.1e4, "20 µs"))
    picture = render.drafts(Reply((Timings(rows, (), (), "أزمنة"),)), Look())[-1]
    assert isinstance(picture, PhotoDraft)
    assert list(faults(picture)) == []
    names = [f"{LTR}<code>{row.name}</code>{END}: {LTR}{row.shown}{END}" for row in rows]
    assert picture.caption.split("\n") == [f"{ALM}{each}" for each in names]


def test_drawn_calls_are_laid_out_as_bubbles_with_their_keys() -> None:
    keys = Choices((Choice("نعم", "1:cmd:next:"), Choice("لا", "1:cmd:back:")), 2)
    made = showing.laid_out(render.drafts(Reply((Paragraph((Text("أصغر < أكبر"),)), CodeBlock("a < b"), keys)), Look()))
    assert made.count('class="tg-bubble"') == 1
    assert "أصغر &lt; أكبر" in made
    assert made.index("لا") < made.index("نعم")  # rows are not mirrored: the first stands at the right


def test_a_number_with_its_unit_is_one_piece_in_prose() -> None:
    shown = html_of(Text("الأزمنة: 2.00 ms، ثم 16 GB. والفرق -2.5 µs، و2-3 ms، و3 x.sum() لا وحدة فيها"))
    for each in ("2.00 ms", "16 GB", "-2.5 µs", "2-3 ms"):
        assert f"{LTR}{each}{END}" in shown
    assert f"{LTR}3 x" not in shown


def test_a_number_with_an_exponent_is_one_piece_in_prose() -> None:
    shown = html_of(Text("والعدد 1e-30 بقي، ومن -3.4e38 إلى 1E5، و2e-8"))
    assert [f"{LTR}{each}{END}" in shown for each in ("1e-30", "-3.4e38", "1E5", "2e-8")] == [True] * 4
