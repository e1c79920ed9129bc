"""One learner's whole way through the real thing, as a person would go it on a phone."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.async_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.timeout(600)]

WAIT_MS = 120_000
START_S = 120
LATIN_RANGE = re.compile(r"\d[\d.,]*\u2013\d")


class Served:
    """`python -m bot web` as a process of its own; a second start takes the same folder and port."""

    def __init__(self, data: Path, learners_python: Path, repository: Path) -> None:
        self.address = ""
        self._repository = repository
        self._environment = {
            **os.environ,
            "TASREE_DATA": str(data),
            "TASREE_SANDBOX_PYTHON": str(learners_python),
            "TASREE_WEB_PORT": "0",
        }
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start, and wait for the address."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "web",
            cwd=self._repository,
            env=self._environment,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(START_S):
            line = (await self._process.stdout.readline()).decode()
        found = re.search(r"http://[\w.:]+/", line)
        assert found, line
        self.address = found.group()
        self._environment["TASREE_WEB_PORT"] = self.address.rstrip("/").rsplit(":", 1)[1]

    async def kill(self) -> None:
        """Kill the bot alone, at once: its runner has to notice by itself."""
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def close(self) -> None:
        """End everything that was started."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                await self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


@pytest.fixture
async def served(tmp_path: Path, learners_python: Path, repository: Path) -> AsyncIterator[Served]:
    one = Served(tmp_path / "data", learners_python, repository)
    await one.start()
    yield one
    await one.close()


def newest(page: Page) -> Locator:
    return page.locator("article").last


async def press(page: Page, label: str | re.Pattern[str]) -> None:
    """Press the newest button with this label, and wait for something new or changed."""
    changes = await page.locator("#log").evaluate(CHANGES)
    await page.locator("article .choices button").filter(has_text=label).last.click()
    await _changed(page, changes)


async def write(page: Page, text: str) -> None:
    changes = await page.locator("#log").evaluate(CHANGES)
    await page.locator("#line").fill(text)
    await page.locator("#composer button[type=submit]").click()
    await _changed(page, changes)


CHANGES = "(log) => Math.max(0, ...[...log.querySelectorAll('article')].map((one) => Number(one.dataset.change)))"


async def _changed(page: Page, changes: int) -> None:
    async with asyncio.timeout(WAIT_MS / 1000):
        while await page.locator("#log").evaluate(CHANGES) <= changes:  # noqa: ASYNC110 - it happens in the browser
            await asyncio.sleep(0.05)


async def read_to_the_end(page: Page) -> list[str]:
    """Press «التالي» until there is none; give the titles."""
    titles = []
    for _ in range(60):
        titles.append(await newest(page).locator("h2").first.inner_text())
        if not await newest(page).locator("button", has_text="التالي").count():
            return titles
        await newest(page).locator("button", has_text="التالي").click()
        await expect(newest(page).locator("h2").first).not_to_have_text(titles[-1], timeout=WAIT_MS)
    pytest.fail("the lesson does not end")


async def measure_the_example(page: Page) -> None:
    await press(page, re.compile("^قياس: مجموع المربعات"))
    retry = newest(page).locator("button", has_text="إعادة المحاولة")
    async with asyncio.timeout(WAIT_MS / 1000):
        while await retry.count():  # the runner proves its walls while the lesson can be read already
            await press(page, "إعادة المحاولة")
    timings = page.locator("article .timings").last
    await expect(timings).to_be_visible(timeout=WAIT_MS)
    await expect(timings.locator(".ratios li .number").first).to_contain_text("×")
    await expect(timings.locator(".interval").first).to_contain_text(LATIN_RANGE)
    await expect(timings.locator("figcaption")).to_contain_text("numpy")
    assert await timings.locator(".bar svg .whisker").count() >= 2


async def answer_the_quiz(page: Page, lesson: dict[str, Any]) -> None:
    """Answer every item, by button, in writing or by «لا أعرف», in whatever order they come."""
    await press(page, re.compile("^الاختبار"))
    for number, _ in enumerate(lesson["check"], 1):
        heading = page.locator("article h2").last  # what is marked stands in a reply of its own under the question
        await expect(heading).to_contain_text(f"السؤال {number} ", timeout=WAIT_MS)
        question = page.locator("article", has=page.locator("h2")).last
        asked = _bare("".join(await question.locator("h2 ~ p, pre").all_inner_texts()))
        (item,) = (item for item in lesson["check"] if _bare(item["question"] + item.get("code", "")) in asked)
        match item["kind"]:
            case "single":
                right = next(option for option in item["options"] if option.get("right"))
                await press(page, _labelled(right))
            case "several":
                for option in item["options"]:
                    if option.get("right"):
                        await press(page, _labelled(option))
                await press(page, "تأكيد")
            case "true_false":
                await press(page, "صواب" if item["answer"] else "خطأ")
            case "order":
                for step in item["steps"]:
                    await press(page, _labelled(step))
                await press(page, "تأكيد")
            case "predict" | "blank":
                await write(page, str(item["answer"]))
            case "number":
                await write(page, str(item["value"]))
            case _:
                await press(page, "لا أعرف")
    await expect(newest(page)).to_contain_text("النتيجة", timeout=WAIT_MS)


def _labelled(option: dict[str, str]) -> re.Pattern[str]:
    return re.compile(re.escape(option["text"].replace("`", "")[:25]))


def _bare(text: str) -> str:
    return re.sub(r"[`*\s]+", "", text)


async def offer_a_repair(page: Page) -> None:
    await page.locator("#box-open").click()
    await page.locator("#code").fill("print(\u201chello from a phone\u201d)\n")
    await page.locator("#box-run").click()
    offer = page.locator("article .choices button", has_text="إصلاح وتشغيل").last
    await expect(offer).to_be_visible(timeout=WAIT_MS)
    await expect(page.locator("article pre ins").last).to_contain_text('print("hello from a phone")')
    await offer.click()
    output = page.locator("article pre", has_text="hello from a phone").last
    await expect(output).to_have_text("hello from a phone", timeout=WAIT_MS)


async def cancel_an_endless_loop(page: Page) -> None:
    await page.locator("#box-open").click()
    await page.locator("#code").fill("while True:\n    pass\n")
    await page.locator("#box-run").click()
    stop = page.locator("article .choices button", has_text="إيقاف").last
    await stop.click(timeout=WAIT_MS)
    await expect(page.locator("article .steps .now")).to_have_count(0, timeout=WAIT_MS)
    await expect(page.locator("article", has_text="أُوقف التشغيل").last).to_be_visible(timeout=WAIT_MS)


@pytest.fixture
def lesson(repository: Path) -> dict[str, Any]:
    text = (repository / "content/lessons/vectorise/lesson.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    for item in loaded["check"]:
        if "code" in item:
            item["code"] = (repository / "content/lessons/vectorise" / item["code"]).read_text(encoding="utf-8")
    return loaded


async def test_a_learner_reads_runs_answers_repairs_cancels_and_comes_back_after_a_crash(
    served: Served, visit: Callable[..., Any], lesson: dict[str, Any]
) -> None:
    visitor = await visit(has_touch=True, is_mobile=True)
    page = await visitor.open(served.address)
    await expect(page.locator("html")).to_have_attribute("dir", "rtl")
    await press(page, "بدء الدرس")
    titles = await read_to_the_end(page)
    assert len(titles) == len(set(titles)) > len(lesson["sections"])

    await measure_the_example(page)
    await answer_the_quiz(page, lesson)
    await offer_a_repair(page)
    await cancel_an_endless_loop(page)

    await write(page, "أين كنت")
    before = await page.locator("article").all_inner_texts()
    mine = await page.locator(".mine").all_inner_texts()
    await served.kill()
    await expect(page.locator("#state")).to_have_attribute("data-state", "lost", timeout=WAIT_MS)
    await served.start()
    await expect(page.locator("#state")).to_have_attribute("data-state", "open", timeout=WAIT_MS)
    assert await page.locator("article").all_inner_texts() == before

    fresh = await visitor.open(served.address)
    await expect(fresh.locator("article").last).to_have_text(re.compile(".+"), timeout=WAIT_MS)
    while await fresh.locator("#earlier").is_visible():
        first = await fresh.locator("article").first.get_attribute("id") or ""
        await fresh.locator("#earlier").click()
        await expect(fresh.locator("article").first).not_to_have_id(first, timeout=WAIT_MS)
    await expect(fresh.locator("article")).to_have_count(len(before), timeout=WAIT_MS)
    assert await fresh.locator("article").all_inner_texts() == before
    assert await fresh.locator(".mine").all_inner_texts() == mine
    await write(fresh, "أين كنت")
    assert (await newest(fresh).inner_text()) == before[-1]


async def test_a_run_under_way_at_a_crash_comes_to_its_end(served: Served, visit: Callable[..., Any]) -> None:
    page = await (await visit()).open(served.address)
    await page.locator("#box-open").click()
    await page.locator("#code").fill("import time\ntime.sleep(4)\nprint('still here')\n")
    await _run_when_there_is_a_runner(page)
    await expect(page.locator("article .steps .now")).to_be_visible(timeout=WAIT_MS)
    replies = await page.locator("article").count()
    await served.kill()
    await served.start()
    await expect(page.locator("#state")).to_have_attribute("data-state", "open", timeout=WAIT_MS)
    await expect(page.locator("article .steps .now")).to_have_count(0, timeout=WAIT_MS)
    await expect(page.locator("article pre").last).to_have_text("still here", timeout=WAIT_MS)
    assert await page.locator("article").count() == replies


async def _run_when_there_is_a_runner(page: Page) -> None:
    changes = await page.locator("#log").evaluate(CHANGES)
    await page.locator("#box-run").click()
    await _changed(page, changes)
    retry = newest(page).locator("button", has_text="إعادة المحاولة")
    async with asyncio.timeout(WAIT_MS / 1000):
        while await retry.count():
            await press(page, "إعادة المحاولة")


async def test_whatever_is_sent_gets_an_answer_and_the_place_is_kept(
    served: Served, visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = await (await visit()).open(served.address)
    await press(page, "بدء الدرس")
    place = await newest(page).inner_text()
    files = {"large.py": b"x = 1\n" * 900_000, "empty.py": b"", "binary.py": bytes(range(256)) * 40}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        changes = await page.locator("#log").evaluate(CHANGES)
        await page.locator("#file").set_input_files(tmp_path / name)
        await _changed(page, changes)
        await expect(newest(page)).to_contain_text(re.compile("[\u0621-\u064a]{3}"), timeout=WAIT_MS)
        assert await newest(page).inner_text() != place
    await write(page, "ا" * 100_000)
    await expect(newest(page)).to_contain_text(re.compile("[\u0621-\u064a]{3}"), timeout=WAIT_MS)
    await expect(page.locator("#state")).to_have_attribute("data-state", "open")
    await press(page, "التالي")
    await expect(newest(page).locator("h2").first).to_contain_text("2 من", timeout=WAIT_MS)
