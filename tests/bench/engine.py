"""What a turn costs beside the loading and saving of its session: p99 of each, and their ratio, in one run."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bot.app import SystemDice
from bot.engine.effects import Say
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.known import Known, needs
from bot.engine.replies import Choices
from bot.engine.turn import take_turn
from bot.stores import sqlite
from bot.testing import StandStillClock
from content.loader import load_course

ROUNDS = 400
TEXTS = ("الدروس", "1", "التالي", "التالي", "اختبار", "لا أعرف", "ليش numpy أسرع من الحلقة؟", "مساعدة")


def p99(values: Sequence[float]) -> float:
    """Give the 99th percentile."""
    return statistics.quantiles(values, n=100)[98]


async def main() -> None:
    """Walk through the course, timing the turn, the loading and the saving of each step apart."""
    course, clock, dice = load_course(), StandStillClock(), SystemDice()
    turns, loads, saves = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        sqlite.migrate(path)
        store = sqlite.open_store(path, b"k" * 32, dice.identity)
        chat = (await store.enter("bench", "learner", clock.now())).id
        pressed = ""
        for step in range(ROUNDS):
            event = ButtonPressed(pressed) if pressed and step % 2 else TextSent(TEXTS[step % len(TEXTS)])
            start = time.perf_counter()
            opened = await store.open(chat, f"k{step}")
            assert opened is not None
            known: Known = await store.load(chat, needs(opened.session, event))
            loaded = time.perf_counter()
            turn = take_turn(opened.session, event, known, course, clock.now(), dice)
            answered = time.perf_counter()
            await store.commit(chat, f"k{step}", opened.revision, turn, clock.now())
            saved = time.perf_counter()
            loads.append(loaded - start)
            turns.append(answered - loaded)
            saves.append(saved - answered)
            choices = [
                choice
                for effect in turn.effects
                if isinstance(effect, Say)
                for block in effect.reply.blocks
                if isinstance(block, Choices)
                for choice in block.choices
            ]
            pressed = choices[0].payload if choices else ""
        await store.close()
    both = [load + save for load, save in zip(loads, saves, strict=True)]
    print(
        json.dumps(
            {
                "benchmark": "engine",
                "turns": ROUNDS,
                "turn_ms": {"p50": round(statistics.median(turns) * 1e3, 3), "p99": round(p99(turns) * 1e3, 3)},
                "load_and_save_ms": {"p50": round(statistics.median(both) * 1e3, 3), "p99": round(p99(both) * 1e3, 3)},
                "ratio_p99": round(p99(turns) / p99(both), 3),
                "ratio_p50": round(statistics.median(turns) / statistics.median(both), 3),
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main())
