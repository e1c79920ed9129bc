"""Two tabs and slow lines, through the whole shell and a real database: what one saw counts once."""

import asyncio
import json
from pathlib import Path
from typing import Self

from bot.app import App, SystemDice
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.known import Needs
from bot.stores import sqlite
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course


class Talk:
    """One learner's chat, with a database behind it."""

    def __init__(self, course: Course, path: Path) -> None:
        sqlite.migrate(path)
        self.store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
        self.chat = RecordingChat()
        self.app = App(
            course=course,
            store=self.store,
            runner=InstantRunner(),
            checker=ParsingChecker(),
            clock=StandStillClock(),
            dice=SystemDice(),
            chat=self.chat,
        )
        self.id = ""

    async def __aenter__(self) -> Self:
        await self.app.start(adopt=False)
        self.id = (await self.app.enter("web", "one")).id
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.app.close()
        await self.store.close()

    async def asked(self) -> str:
        opened = await self.store.open(self.id, "")
        assert opened is not None
        return opened.session.asked

    def said(self, words: str) -> int:
        return sum(words in json.dumps(str(one.reply), ensure_ascii=False) for _, one in self.chat.shown)


async def test_different_options_of_one_displayed_question_pressed_at_once_spend_one_try(
    course: Course, tmp_path: Path
) -> None:
    async with Talk(course, tmp_path / "t.db") as talk:
        await talk.app.take(talk.id, TextSent("اختبار"), "q")
        ask = await talk.asked()
        presses = [ButtonPressed(f"1:ans:{ask}:{option}") for option in ("loop", "both")]
        await asyncio.gather(*(talk.app.take(talk.id, press, f"k{at}") for at, press in enumerate(presses)))
        found = (await talk.store.load(talk.id, Needs(ask=ask))).ask
        assert found is not None
        assert (found.tries, found.closed) == (1, False)


async def test_a_double_press_of_the_check_asks_its_question_once(course: Course, tmp_path: Path) -> None:
    async with Talk(course, tmp_path / "t.db") as talk:
        press = ButtonPressed("1:quiz:small:")
        await asyncio.gather(*(talk.app.take(talk.id, press, f"k{at}") for at in range(3)))
        assert talk.said("أي صيغة أسرع؟") == 1


async def test_a_grade_pressed_from_two_devices_moves_the_card_once(course: Course, tmp_path: Path) -> None:
    async with Talk(course, tmp_path / "t.db") as talk:
        await talk.app.take(talk.id, TextSent("بطاقات"), "c")
        ask = await talk.asked()
        await talk.app.take(talk.id, ButtonPressed(f"1:ans:{ask}:_flip"), "f")
        grades = [ButtonPressed(f"1:ans:{ask}:{grade}") for grade in ("_knew", "_missed", "_easy")]
        await asyncio.gather(*(talk.app.take(talk.id, press, f"g{at}") for at, press in enumerate(grades)))
        kept = (await talk.store.load(talk.id, Needs(remembered=True))).remembered
        assert kept is not None
        assert [row.memory and row.memory.grades for row in kept.cards] == [1]
