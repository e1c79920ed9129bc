"""Interactions through the whole path on Discord, beside a bare handler of discord.py in the same simulator.

Interactions are counted per second of this process's own processor time (so: per core), the simulator's share included
on both sides; the wait is from a command's coming to its acknowledgement, in milliseconds.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "standins"))

import discord
import simcord
from discord import app_commands
from discordsim.place import served

from bot.stores import sqlite
from content.loader import load_course

LEARNERS = int(os.environ.get("TASREE_BENCH_LEARNERS", "20"))
ROUNDS = 5
SAID = "where"


class Bare(discord.Client):
    """A client with one command, as the library's own example is written."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.default())
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)

        @self.tree.command(name=SAID, description="says something")
        async def said(interaction: discord.Interaction[Any]) -> None:
            await interaction.response.send_message("here")

    async def setup_hook(self) -> None:
        """Announce the command."""
        await self.tree.sync()


async def load(env: Any, until_idle: Any) -> dict[str, float]:  # noqa: ANN401 - the simulator's, and either bot's
    """Have every learner give a command, again and again."""
    learners = [env.create_user(f"u{number}") for number in range(LEARNERS)]
    for learner in learners:  # the first words make a chat: they are not counted
        await learner.slash(SAID)
    await until_idle()
    acknowledged: list[float] = []

    async def one(learner: Any) -> None:  # noqa: ANN401 - the simulator's
        seen = len(env.http_requests)
        began = time.perf_counter()
        task = asyncio.ensure_future(learner.slash(SAID))
        while not any("/callback" in str(each) for each in env.http_requests[seen:]) and not task.done():  # noqa: ASYNC110 - the log is the simulator's
            await asyncio.sleep(0)
        acknowledged.append(time.perf_counter() - began)
        assert (await task).acknowledged

    before, start = time.process_time(), time.perf_counter()
    for _ in range(ROUNDS):
        for learner in learners:
            await one(learner)
        await until_idle()
    wall, processor = time.perf_counter() - start, time.process_time() - before
    count = LEARNERS * ROUNDS
    return {
        "interactions": count,
        "wall_s": round(wall, 2),
        "cpu_s": round(processor, 2),
        "interactions_per_s_per_core": round(count / processor, 1),
        "acknowledged_ms_p50": round(statistics.median(acknowledged) * 1e3, 2),
        "acknowledged_ms_p99": round(statistics.quantiles(acknowledged, n=100)[98] * 1e3, 2),
    }


async def conversing() -> dict[str, float]:
    """Measure the real thing: engine, course and SQLite."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.db"
        sqlite.migrate(path)
        async with served(load_course(), path) as bot:
            return await load(bot.env, bot.idle)


async def bare() -> dict[str, float]:
    """Measure the bare handler."""

    async def at_once() -> None:
        await asyncio.sleep(0)

    async with simcord.run(Bare(), check_errors=True) as env:
        return await load(env, at_once)


async def main() -> None:
    """Measure both and print the ratio."""
    found: dict[str, Any] = {"benchmark": "discord", "learners": LEARNERS}
    found["conversation"], found["bare"] = await conversing(), await bare()
    per_core = [found[what]["interactions_per_s_per_core"] for what in ("conversation", "bare")]
    found["ratio_interactions_per_s_per_core"] = round(per_core[0] / per_core[1], 4)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
