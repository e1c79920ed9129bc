"""Every paste of the cases that came by Telegram or as a file, sent at a client: what runs is what was meant."""

import asyncio
import json
from pathlib import Path
from typing import Any

from botapi.oracle import Mark
from botapi.person import Person
from botapi.place import Place

from bot.adapters.telegram.hearing import PLATFORM
from bot.testing import InstantRunner

CASES = [
    case
    for case in json.loads((Path(__file__).parents[1] / "cases" / "pastes.json").read_text("utf-8"))
    if (case["platform"] == "telegram" or case["attachment"]) and "%%" not in (case["want"]["code"] or "")
]
"""Those with a notebook's magics need the real child, which masks them."""


def sent(learner: Person, case: dict[str, Any]) -> None:
    """Send a case as its client does."""
    file, raw = case["attachment"], case["raw"]
    if file is not None:
        learner.upload(file["name"], file["text"].encode())
        return
    marks = tuple(
        Mark(one["type"], one["offset"], one["length"], one.get("language", "")) for one in case["entities"] or ()
    )
    for part in raw if isinstance(raw, list) else [raw]:
        learner.send(part, marks, cleaned=False)


def lines(source: str) -> list[str]:
    """Give the lines that are not empty; an apostrophe in a word may stay curly."""
    return [line.rstrip().replace("’", "'") for line in source.split("\n") if line.strip()]


async def test_pastes_run_as_they_were_meant(place: Place) -> None:
    runner = InstantRunner()
    learners = {case["id"]: place.person(3000 + at) for at, case in enumerate(CASES)}
    async with place.bot(runner) as bot:
        for case in CASES:
            sent(learners[case["id"]], case)
        async with asyncio.timeout(60):
            while not all(learner.screen() for learner in learners.values()):  # noqa: ASYNC110 - as people wait
                await asyncio.sleep(0.05)
        await bot.idle()
        chats = {
            (await bot.app.enter(PLATFORM, str(one.user), greet=False)).learner: name for name, one in learners.items()
        }
    ran = {chats[job.learner]: job.source for job in runner.submitted}
    assert len(ran) == len(runner.submitted)
    wrong = [
        case["id"]
        for case in CASES
        if (case["want"]["action"] == "run") != (case["id"] in ran)
        or (case["id"] in ran and lines(ran[case["id"]]) != lines(case["want"]["code"]))
    ]
    assert wrong == []
    offered = [case["id"] for case in CASES if case["want"]["action"] == "offer_repair"]
    assert [name for name in offered if not any("إصلاح وتشغيل" in label for label in learners[name].labels())] == []
