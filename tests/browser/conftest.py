"""A real browser, driven as a learner would; what goes wrong in its pages fails the test."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WAIT_MS = 30_000
PHONE = {"width": 360, "height": 740}


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        yield started
        await started.close()


class Visitor:
    """A learner's browser: its pages share a cookie and a storage; what goes wrong in them is kept."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.faults: list[str] = []
        self.addresses: list[str] = []

    async def open(self, address: str) -> Page:
        """Open a page and wait until it is connected."""
        page = await self.context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.addresses.append(request.url))
        page.on("console", lambda line: self.faults.append(line.text) if "Content Security" in line.text else None)
        await page.goto(address)
        await expect(page.locator("#state")).to_have_attribute("data-state", "open", timeout=WAIT_MS)
        return page


@pytest.fixture
async def visit(browser: Browser) -> AsyncIterator[Callable[..., Any]]:
    visitors: list[Visitor] = []

    async def build(**options: Any) -> Visitor:  # noqa: ANN401 - the browser's own options
        context = await browser.new_context(**{"viewport": PHONE, **options})
        visitors.append(Visitor(context))
        return visitors[-1]

    yield build
    for visitor in visitors:
        assert visitor.faults == []
        await visitor.context.close()
