import asyncio
import base64
import contextlib
import re
import struct
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from bot.adapters.web.serve import WebChat
from bot.adapters.web.testing import Answer, MemoryTalk
from bot.engine import replies
from bot.engine.events import ButtonPressed, CodeSent, Event, FileSent, TextSent
from bot.engine.replies import Choice, Choices, Code, Number, Paragraph, Reply, Text
from content.schema import Course

pytestmark = pytest.mark.browser
WAIT_MS = 30_000
KEY = b"k" * 32


def png(width: int, height: int) -> bytes:
    """Give a grey picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\x99" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


COURSE = Course(
    lessons=(),
    phrases={"web.too_large": "هذا كبير", "web.unreadable": "لا يُقرأ", "web.code": "كود", "web.download": "تنزيل"},
    pictures={"v/p.png": png(800, 300), "v/p_dark.png": png(800, 300)},
    hash="d" * 64,
)
PROGRAM = (
    "import numpy as np\n\nx = np.arange(1_000_000)\nprint((x * x).sum(), x.mean())  # مجموع المربعات والمتوسط معًا\n"
)
EVERY_BLOCK = Reply(
    (
        replies.Heading((Text("عنوان "), Code("x.sum()"))),
        Paragraph((Text("الشكل "), Code("(3, 4)"), Text(" والفرق "), Number("-1"), Text("."))),
        replies.Bullets(
            ((Text("أولًا"),), (Text("ثانيًا "), Code("a_very_long_identifier_that_must_break" * 3))), numbered=True
        ),
        replies.CodeBlock(PROGRAM, "python", "program.py"),
        replies.CodeBlock("-a\n+b", "diff", "الفرق"),
        replies.Picture("v/p.png", "وصف الصورة", (Text("شرح"),)),
        replies.Attachment("figure.png", "image/png", base64.b64encode(png(600, 200)).decode()),
        replies.Attachment("data.csv", "text/csv", base64.b64encode(b"1,2\n").decode()),
        replies.Timings(
            (
                replies.TimingRow("loop", 100.0, 90.0, 110.0, "100 ns"),
                replies.TimingRow("dot", 10.0, 9.0, 11.0, "10 ns"),
            ),
            (replies.RatioRow("dot", "loop", 10.0, 9.0, 11.0, "10×", "9–11", "faster", ()),),
            (Code("AMD EPYC"),),
            "أزمنة",
        ),
        replies.Bits(
            (
                replies.BitsRow("float32", "0", "01111011", "10011001100110011001101", "≈ 0.100000001"),
                replies.BitsRow("float16", "0", "01011", "1001100110", "≈ 0.099976"),
            ),
            ("الإشارة", "الأس", "الكسر"),
            "بتات 0.1",
        ),
        replies.Bars(
            (
                replies.Bar("مدى `float16` ودقته واسم طويل لموضوع لا يسعه سطر واحد", 0.834, "83%", "mastered", "متقن"),
                replies.Bar("الدمج", 0.41, "41%", "growing", "قيد التعلّم"),
                replies.Bar("عدة بطاقات رسوميات معًا", 0.0, "", "new", "لم يبدأ"),
            ),
            "خريطة التقدّم",
        ),
        Choices((Choice("السابق", "1:go:a.b:"), Choice("التالي", "1:go:a.c:")), 2),
        Choices((Choice("array([0, -1, -2])", "1:ans:a:b"),)),
    )
)


def said(*texts: str) -> Reply:
    """Give a reply of paragraphs."""
    return Reply(tuple(Paragraph((Text(text),)) for text in texts))


def running(done: int) -> Reply:
    """Give the reply of a run under way."""
    steps = (replies.Step("استيراد", "past"), replies.Step("قياس", "now", done, 40))
    return Reply((replies.Steps(steps), Choices((Choice("إيقاف", "1:stop:run:"),))))


class Stage:
    """A served conversation that can be stopped and started again at the same address."""

    def __init__(self, talk: MemoryTalk) -> None:
        self.talk = talk
        self.address = ""
        self._port = 0
        self._stack = contextlib.AsyncExitStack()

    async def start(self) -> None:
        """Serve, with nothing remembered but what the conversation holds."""
        chat = WebChat()
        self.talk.chat = chat
        serving = chat.serving(self.talk, host="127.0.0.1", port=self._port, key=KEY)
        self.address = await self._stack.enter_async_context(serving)
        self._port = int(self.address.rsplit(":", 1)[1].rstrip("/"))

    async def stop(self) -> None:
        """Serve no more."""
        await self._stack.aclose()
        self._stack = contextlib.AsyncExitStack()

    @property
    def chat(self) -> str:
        """Give the only chat there is."""
        (chat,) = self.talk._shown
        return chat


@pytest.fixture
async def stage() -> AsyncIterator[Callable[..., Any]]:
    async with contextlib.AsyncExitStack() as stack:

        async def build(answer: Answer = lambda _: (), greeting: Sequence[Reply] = ()) -> Stage:
            built = Stage(MemoryTalk(COURSE, answer, greeting))
            await built.start()
            stack.push_async_callback(built.stop)
            return built

        yield build


def echo(event: Event) -> Sequence[tuple[str, Reply]]:
    match event:
        case TextSent(text):
            return [("", said(f"وصل: {text}"))]
        case ButtonPressed(payload):
            return [("pressed", said(f"ضُغط {payload}"))]
        case CodeSent(source, _, measure):
            return [("", said(f"كود {len(source)} {'قياس' if measure else 'تشغيل'}"))]
        case FileSent(name, data):
            return [("", said(f"ملف {name} {len(data)}"))]
        case _:
            return []


async def write(page: Page, text: str) -> None:
    await page.locator("#line").fill(text)
    await page.locator("#line").press("Enter")


async def seen(locator: Locator, text: str | re.Pattern[str]) -> None:
    await expect(locator).to_contain_text(text, timeout=WAIT_MS)


Open = Callable[..., Any]

DIRECTION = "(one) => { const style = getComputedStyle(one); return [style.direction, style.unicodeBidi]; }"
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((one) => !one.closest("pre, svg, .unseen, .skip, textarea"))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.getBoundingClientRect().left < -1)
    .map((one) => one.outerHTML.slice(0, 80))"""
NAMELESS = """() => [...document.querySelectorAll("button, a, textarea, input:not([hidden])")]
    .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length))
    .map((one) => one.outerHTML)"""
LOOK = """() => [
    getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector(".steps .now"), "::before").animationName,
    document.querySelector("picture img").currentSrc.includes("_dark")]"""


async def test_the_page_reads_right_to_left_and_code_left_to_right(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[EVERY_BLOCK])
    visitor = await visit()
    page = await visitor.open(built.address)
    paths = ["html", "article p", "article pre", "article p code", "article p .number"]
    styles = {path: await page.locator(path).first.evaluate(DIRECTION) for path in paths}
    assert styles["html"][0] == styles["article p"][0] == "rtl"
    assert styles["article pre"] == styles["article p code"] == styles["article p .number"] == ["ltr", "isolate"]
    assert {address.split("/")[2] for address in visitor.addresses if address.startswith("http")} == {
        built.address.split("/")[2]
    }


@pytest.mark.parametrize("width", [320, 360, 1280])
async def test_no_block_is_wider_than_the_page(stage: Open, visit: Open, width: int) -> None:
    built = await stage(greeting=[EVERY_BLOCK, running(3)])
    page = await (await visit(viewport={"width": width, "height": 740})).open(built.address)
    await expect(page.locator("article")).to_have_count(2)
    wide = await page.evaluate(TOO_WIDE)
    assert wide == []
    assert await page.evaluate("document.getElementById('scroll').scrollWidth") <= width


async def test_what_is_written_is_answered_and_both_stand_after_a_reload(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    await write(page, "سؤال أول")
    await seen(page.locator("article").last, "وصل: سؤال أول")
    await write(page, "سؤال ثان")
    await seen(page.locator("article").last, "وصل: سؤال ثان")
    await page.locator("#line").fill("مسودة")
    await page.reload()
    await expect(page.locator("article")).to_have_count(3, timeout=WAIT_MS)
    order = await page.locator("#log > *").evaluate_all("all => all.map((one) => one.querySelector('p').textContent)")
    assert order == ["أهلًا", "سؤال أول", "وصل: سؤال أول", "سؤال ثان", "وصل: سؤال ثان"]
    await expect(page.locator("#line")).to_have_value("مسودة")
    assert await page.locator(".mine").first.get_attribute("data-state") == ""


async def test_an_old_button_still_works_and_focus_stays_where_it_was(stage: Open, visit: Open) -> None:
    flip = Reply((Paragraph((Text("وجه"),)), Choices((Choice("قلب", "1:cards:a:"), Choice("آخر", "1:cards:b:")))))
    back = Reply((Paragraph((Text("ظهر"),)), Choices((Choice("قلب", "1:cards:a:"), Choice("آخر", "1:cards:b:")))))
    built = await stage(lambda _: [("card", back)], [said("أهلًا")])
    page = await (await visit()).open(built.address)
    await built.talk.say(built.chat, "card", flip)
    for i in range(5):
        await built.talk.say(built.chat, "", said(f"لاحق {i}"))
    await expect(page.locator("article")).to_have_count(7, timeout=WAIT_MS)
    button = page.locator("#r2").get_by_text("آخر")
    await button.focus()
    await page.keyboard.press("Enter")
    await seen(page.locator("#r2"), "ظهر")
    assert await page.evaluate("document.activeElement.dataset.press") == "1:cards:b:"
    await expect(page.locator("#r2 .pressed")).to_have_text("آخر")
    assert [event for _, event in built.talk.taken] == [ButtonPressed("1:cards:b:")]


async def test_two_tabs_show_the_same(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    visitor = await visit()
    one, other = await visitor.open(built.address), await visitor.open(built.address)
    await write(one, "من الأولى")
    await seen(other.locator("article").last, "وصل: من الأولى")
    await seen(other.locator(".mine"), "من الأولى")
    await write(other, "من الثانية")
    await seen(one.locator("article").last, "وصل: من الثانية")
    for page in (one, other):
        await expect(page.locator("article")).to_have_count(3)
        await expect(page.locator(".mine")).to_have_count(2)


async def test_what_is_sent_while_the_server_is_away_arrives_once(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    await built.stop()
    await expect(page.locator("#state")).to_have_attribute("data-state", "lost", timeout=WAIT_MS)
    await write(page, "أثناء الانقطاع")
    await expect(page.locator(".mine")).to_have_attribute("data-state", "sending")
    await built.talk.say(built.chat, "", said("قيل في الغياب"))
    await built.start()
    await seen(page.locator("article").last, "وصل: أثناء الانقطاع")
    await expect(page.locator(".mine")).to_have_attribute("data-state", "")
    assert await page.locator("article").all_inner_texts() == ["أهلًا", "قيل في الغياب", "وصل: أثناء الانقطاع"]
    assert len(built.talk.taken) == 1


async def test_a_device_without_network_is_told_at_once_and_comes_back_by_itself(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    await page.context.set_offline(True)
    await expect(page.locator("#state")).to_have_attribute("data-state", "lost")
    await page.context.set_offline(False)
    await expect(page.locator("#state")).to_have_attribute("data-state", "open", timeout=WAIT_MS)


async def test_an_event_not_acknowledged_is_sent_again_after_a_reload(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    built.talk.trouble = TimeoutError("the store is busy")
    await write(page, "مرة واحدة")
    await seen(page.locator("article").last, "وصل: مرة واحدة")
    assert len(built.talk.taken) == 1


async def test_a_run_ticks_in_one_reply_and_only_its_end_is_read_aloud(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[said("أهلًا")])
    page = await (await visit()).open(built.address)
    for done in range(30):
        await built.talk.say(built.chat, "run", running(done))
    await seen(page.locator("#r2 .steps .now .count"), "29/40")
    await expect(page.locator("article")).to_have_count(2)
    await expect(page.locator("#spoken")).to_have_text("")
    await built.talk.say(built.chat, "run", said("أسرع 12 مرة"))
    await seen(page.locator("#r2"), "أسرع 12 مرة")
    await seen(page.locator("#spoken"), "أسرع 12 مرة")


async def test_the_code_box_has_numbers_indents_and_is_no_trap(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit(viewport={"width": 1280, "height": 800})).open(built.address)
    await page.locator("#box-open").click()
    code = page.locator("#code")
    await expect(code).to_be_focused()
    await page.keyboard.type("for i in range(3):")
    await page.keyboard.press("Enter")
    await page.keyboard.type("print(i)")
    await page.keyboard.press("Tab")
    await expect(code).to_have_value("for i in range(3):\n    print(i)    ")
    await expect(page.locator("#lines")).to_have_text("1\n2")
    await page.keyboard.press("Shift+Tab")
    await expect(code).to_have_value("for i in range(3):\nprint(i)    ")
    await page.keyboard.press("Control+z")
    await expect(code).to_have_value("for i in range(3):\n    print(i)    ")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Tab")
    await expect(page.locator("#box-run")).to_be_focused()
    await page.locator("#box-time").click()
    await seen(page.locator("article").last, "قياس")
    await page.locator("#code").press("Control+Enter")
    await seen(page.locator("article").last, "تشغيل")
    source = "for i in range(3):\n    print(i)    "
    assert [event for _, event in built.talk.taken] == [CodeSent(source, measure=True), CodeSent(source)]
    await page.reload()
    await expect(page.locator("#code")).to_have_value(source)


async def test_a_file_is_sent_byte_for_byte_by_the_button_and_by_a_drop(
    stage: Open, visit: Open, tmp_path: Path
) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    data = bytes(range(256)) + "\r\n\ufeff".encode()
    (tmp_path / "code.py").write_bytes(data)
    await page.locator("#file").set_input_files(tmp_path / "code.py")
    await seen(page.locator("article").last, f"ملف code.py {len(data)}")
    await page.evaluate(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File([], "empty.ipynb"));
            window.dispatchEvent(new DragEvent("dragover", { dataTransfer: carried, cancelable: true }));
            window.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
        }"""
    )
    await seen(page.locator("article").last, "ملف empty.ipynb 0")
    assert [event for _, event in built.talk.taken] == [FileSent("code.py", data), FileSent("empty.ipynb", b"")]


async def test_what_is_over_the_hard_cap_is_answered_in_words(stage: Open, visit: Open, tmp_path: Path) -> None:
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    (tmp_path / "huge.py").write_bytes(bytes(20 << 20))
    await page.locator("#file").set_input_files(tmp_path / "huge.py")
    await seen(page.locator(".refused"), "هذا كبير")
    await page.locator("#line").fill("ا" * 100_000)
    await page.locator("#line").press("Enter")
    await seen(page.locator("article").last, "ااا")
    await expect(page.locator("#state")).to_have_attribute("data-state", "open")
    assert built.talk.taken == [(built.chat, TextSent("ا" * 100_000))]


async def test_who_reads_above_is_not_pulled_down_and_is_told(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said(*(f"سطر {i}" for i in range(60)))])
    page = await (await visit()).open(built.address)
    scroll = page.locator("#scroll")
    await scroll.hover()
    await page.mouse.wheel(0, -3000)
    await expect(page.locator("#pill")).to_be_hidden()
    await _until(lambda: scroll.evaluate("one => one.scrollTop < 50"))
    await built.talk.say(built.chat, "", said("جديد"))
    await expect(page.locator("#pill")).to_be_visible(timeout=WAIT_MS)
    assert await scroll.evaluate("one => one.scrollTop") < 50
    await page.locator("#pill").click()
    await expect(page.locator("article").last).to_be_in_viewport(timeout=WAIT_MS)
    await expect(page.locator("#pill")).to_be_hidden()


async def test_a_long_reply_is_shown_from_its_beginning(stage: Open, visit: Open) -> None:
    built = await stage(lambda _: [("", said(*(f"سطر {i}" for i in range(60))))], [said("أهلًا")])
    page = await (await visit()).open(built.address)
    await write(page, "هات")
    await expect(page.locator("#r2 p").first).to_be_in_viewport(timeout=WAIT_MS)


async def test_hostile_text_stays_text(stage: Open, visit: Open) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e"
    built = await stage(echo, [said("أهلًا")])
    page = await (await visit()).open(built.address)
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    await write(page, evil)
    await seen(page.locator("article").last, "<img src=x onerror=alert(1)>")
    await seen(page.locator(".mine"), "<script>alert(2)</script>")
    assert await page.locator("#log img, #log script").count() == 0


async def test_code_is_copied_and_taken_to_the_box(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[EVERY_BLOCK])
    visitor = await visit(permissions=["clipboard-read", "clipboard-write"])
    page = await visitor.open(built.address)
    figure = page.locator("article .code").first
    await figure.locator("[data-tool=copy]").click()
    await expect(figure.locator(".done")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == PROGRAM.rstrip("\n")
    await figure.locator("[data-tool=edit]").click()
    await expect(page.locator("#code")).to_have_value(PROGRAM.rstrip("\n"))


async def test_everything_that_can_be_pressed_has_a_name_and_shows_its_focus(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[EVERY_BLOCK])
    page = await (await visit(viewport={"width": 1280, "height": 900})).open(built.address)
    nameless = await page.evaluate(NAMELESS)
    assert nameless == []
    await page.locator("body").press("Tab")
    await expect(page.locator(".skip")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#line")).to_be_focused()
    for _ in range(3):
        await page.keyboard.press("Shift+Tab")
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"


async def test_dark_screens_and_still_ones_are_respected(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[EVERY_BLOCK, running(3)])
    light = await (await visit(color_scheme="light")).open(built.address)
    dark = await (await visit(color_scheme="dark", reduced_motion="reduce")).open(built.address)
    await expect(dark.locator("article")).to_have_count(2)
    assert await light.evaluate(LOOK) == ["rgb(245, 244, 239)", "pulse", False]
    assert await dark.evaluate(LOOK) == ["rgb(18, 24, 26)", "none", True]


CONTRASTS = """() => [...document.querySelectorAll('.bits td[class^=bit-], .bits .bit-key')].map((cell) => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((each) => each / 255)
    .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
    .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
  const style = getComputedStyle(cell);
  const [low, high] = [light(style.color), light(style.backgroundColor)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_bits_of_a_number_fit_a_phone_in_order_and_can_be_read(stage: Open, visit: Open, scheme: str) -> None:
    built = await stage(greeting=[EVERY_BLOCK])
    page = await (await visit(color_scheme=scheme)).open(built.address)
    row = page.locator(".bits tbody tr").first
    await expect(row.locator("td[class^=bit-]")).to_have_count(3)
    places = await row.locator("td[class^=bit-]").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().left)"
    )
    assert places == sorted(places)
    heights = await row.locator("td[class^=bit-]").evaluate_all("all => all.map((one) => one.offsetHeight)")
    assert len(set(heights)) == 1  # 32 bits stand in one line at 360 px
    contrasts = await page.evaluate(CONTRASTS)
    assert len(contrasts) == 9
    assert min(contrasts) >= 4.5  # WCAG 2.2, success criterion 1.4.3


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_progress_picture_grows_from_the_right_within_a_phone(
    stage: Open, visit: Open, tmp_path: Path, scheme: str
) -> None:
    bars = replies.Bars(
        (
            replies.Bar("الحساب على المصفوفات", 0.9, "90%", "mastered", "متقن"),
            replies.Bar("الدقة النصفية `float16`", 0.4, "40%", "growing", "ينمو"),
            replies.Bar("الترجمة", 0.0, "", "new", "لم يُجرَّب بعد"),
        ),
        "خريطة التقدّم",
    )
    built = await stage(greeting=[Reply((bars,))])
    page = await (await visit(color_scheme=scheme)).open(built.address)
    await expect(page.locator(".bars tbody tr")).to_have_count(3)
    edges = "all => all.map((one) => { const box = one.getBoundingClientRect(); return [box.left, box.right]; })"
    tracks = await page.locator(".bars rect.track").evaluate_all(edges)
    fills = await page.locator(".bars rect.fill").evaluate_all(edges)
    assert all(abs(fill[1] - track[1]) < 1 for fill, track in zip(fills[:2], tracks, strict=False))
    widths = [right - left for left, right in fills]
    assert widths[0] > widths[1] > widths[2] == 0
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.screenshot(path=tmp_path / f"progress-{scheme}.png")


async def test_what_was_said_before_can_be_fetched(stage: Open, visit: Open) -> None:
    built = await stage(greeting=[said(f"رد {i}") for i in range(1, 61)])
    page = await (await visit()).open(built.address)
    await expect(page.locator("article")).to_have_count(40)
    await page.locator("#earlier").click()
    await expect(page.locator("article")).to_have_count(60, timeout=WAIT_MS)
    await expect(page.locator("#earlier")).to_be_hidden()
    assert (await page.locator("article").first.inner_text()) == "رد 1"


async def test_a_page_works_without_any_storage(stage: Open, visit: Open) -> None:
    built = await stage(echo, [said("أهلًا")])
    visitor = await visit()
    await visitor.context.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        "Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page = await visitor.open(built.address)
    await write(page, "مرحبا")
    await seen(page.locator("article").last, "وصل: مرحبا")


async def _until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(WAIT_MS / 1000):
        while not await holds():  # noqa: ASYNC110 - what is waited for happens in the browser
            await asyncio.sleep(0.05)
