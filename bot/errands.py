"""What a turn asks of the shell beside runs and checks, and what takes a while: the teacher's report, other words.

Law: an errand always ends with its event, whatever went wrong; who is an admin is decided here, by the settings.
"""

import asyncio
import base64
import logging
from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from bot import charts
from bot.engine.answering.normalise import MOST
from bot.engine.effects import AskPhrasing, MakeReport
from bot.engine.events import Event, Phrased, ReportMade, TextSent
from bot.engine.known import Known
from bot.engine.teaching import tables
from bot.errors import BotError
from bot.phraser import Phraser
from bot.ports import Clock, Reports
from bot.second import Second
from content.schema import Course

LOG = logging.getLogger("tasree.errands")


class Errands:
    """Runs errands for one bot."""

    def __init__(
        self,
        reports: Reports,
        clock: Clock,
        admins: Collection[str] = (),
        phraser: Phraser | None = None,
        second: Second | None = None,
    ) -> None:
        self._reports = reports
        self._clock = clock
        self._admins = frozenset(admins)
        self._phraser = phraser
        self._second = second

    async def seen(self, known: Known, event: Event, course: Course) -> Known:
        """Say whether somebody gives other words, and whether the second opinion doubts the answer to a text."""
        doubted = False
        if self._second is not None and isinstance(event, TextSent) and len(event.text) <= MOST:
            doubted = await self._second.doubts(course, event.text)
        if not doubted and self._phraser is None:
            return known
        return replace(known, doubted=doubted, phrasing=self._phraser is not None)

    async def run(self, chat: str, errand: MakeReport | AskPhrasing, course: Course) -> ReportMade | Phrased:
        """Run one errand to its event."""
        match errand:
            case MakeReport(slot):
                try:
                    return await self._report(chat, slot, course)
                except (BotError, OSError, ValueError):
                    LOG.exception("a report failed")
                    return ReportMade(slot, allowed=True)
            case AskPhrasing(ask):
                sentences = await self._phraser.phrased(errand) if self._phraser else ()
                return Phrased(ask, sentences)
            case _:
                assert_never(errand)

    async def _report(self, chat: str, slot: str, course: Course) -> ReportMade:
        if self._admins.isdisjoint(await self._reports.accounts(chat)):
            return ReportMade(slot, allowed=False)
        report = await self._reports.report(course, self._clock.now())
        picture = await asyncio.to_thread(charts.drawn, report, course)
        listed = [("report.png", "image/png", picture)]
        listed += [(name, "text/csv", text.encode("utf-8-sig")) for name, text in tables.written(report).items()]
        files = tuple((name, media, base64.b64encode(data).decode()) for name, media, data in listed)
        return ReportMade(slot, allowed=True, report=report, files=files)
