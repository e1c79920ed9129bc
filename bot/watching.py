"""Looks at the installation again and again, and tells its admins in chat what is wrong, and when it is over.

Law: any number of bots may look. The store has one row an incident, kept by one bot under a lease; each admin's chat
hears of it by a turn whose key bears the incident's beginning, so nobody hears it twice. That the store itself is away
is said without it, by the bot that last had the lease to speak. Nothing of a learner is told.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.engine.events import Event, IncidentTold, Trouble
from bot.engine.incidents import worded
from bot.engine.wording import Wording
from bot.errors import BotError, SettingsError, StoreAwayError
from bot.figures import Figures, LogCount
from bot.ports import CallsOut, Clock, Incident, Incidents, Stands
from content.schema import Course
from sandbox_runner.errors import SetupError
from sandbox_runner.showing import alive, shown

LOG = logging.getLogger("tasree.watching")

TICK_S = 20.0
LEASE = timedelta(minutes=2)
LATE = timedelta(minutes=10)
"""So long may a run, a reply or an update wait before somebody should know."""
MANY_RUNS = 200
WELL = timedelta(minutes=1)
"""So long is all well before it is called over: what comes and goes is one incident."""
TOLD_OVER = timedelta(hours=1)
"""Longer ago no end is told: it is no news."""
PATIENCE: dict[Trouble, timedelta] = {Trouble.RUNNER: timedelta(minutes=2), Trouble.STORE: timedelta(minutes=1)}
"""So long is what may pass by itself before it is an incident."""
_OF_ALL = frozenset({Trouble.QUEUE, Trouble.OUTBOX, Trouble.GPU})
"""What every bot sees the same, so that any may say that it is over; whether a runner answers, each sees for itself."""


class Served(Protocol):
    """The face of the app that this needs."""

    @property
    def course(self) -> Course:
        """Give the course as it is served now."""
        ...

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer an event; False when its key was taken before."""
        ...


@dataclass(slots=True)
class _Seen:
    """Since when a thing is wrong, or well again, as this bot sees it."""

    bad: datetime | None = None
    well: datetime | None = None


class Watch:
    """One bot's look; `holder` names it among others, `admins` are accounts as `platform:external`."""

    def __init__(  # noqa: PLR0913 - what is looked at, and who is told
        self,
        app: Served,
        incidents: Incidents,
        figures: Figures,
        clock: Clock,
        holder: str,
        admins: Sequence[str],
        chat: object,
    ) -> None:
        self._app = app
        self._incidents = incidents
        self._figures = figures
        self._clock = clock
        self._holder = holder
        self._admins = admins
        self._chat = chat
        self._seen: dict[Trouble, _Seen] = {trouble: _Seen() for trouble in Trouble}
        self._told: set[str] = set()
        self._reached: tuple[tuple[str, str], ...] = ()
        self._speaks = False
        self._called_out = False

    async def run(self) -> None:
        """Look until cancelled; a fault of one look is left to the next."""
        while True:
            try:
                await self.tick()
            except Exception:
                LOG.exception("a look failed")
            await asyncio.sleep(TICK_S)

    async def tick(self) -> None:
        """Look once, and tell what is to be told."""
        figures = self._figures
        figures.platform_trouble = self._chat.trouble() if isinstance(self._chat, Stands) else ""
        now = self._clock.now()
        try:
            figures.backlog = await self._incidents.backlog(figures.platform, now, LATE)
            figures.store = True
            await self._look()
        except StoreAwayError as error:
            figures.store = False
            LOG.warning("the store is away: %s", error)
            await self._without_store(now)

    async def _look(self) -> None:
        now = self._clock.now()
        away = self._seen[Trouble.STORE].bad
        self._seen[Trouble.STORE] = _Seen()
        if away is not None and now - away >= PATIENCE[Trouble.STORE]:
            await self._incidents.passed(Trouble.STORE, self._holder, away, now)
        self._called_out = False
        open_ = {each.name: each for each in await self._incidents.all() if each.over_at is None}
        for trouble in (Trouble.RUNNER, Trouble.QUEUE, Trouble.OUTBOX, Trouble.GPU):
            await self._judge(trouble, open_.get(self._name(trouble)), now)
        self._speaks = await self._incidents.hold(f"speaker:{self._figures.platform}", self._holder, now, LEASE)
        await self._tell(now)

    def _name(self, trouble: Trouble) -> str:
        return f"{trouble}:{self._figures.platform}" if trouble is Trouble.OUTBOX else trouble.value

    async def _judge(self, trouble: Trouble, lasting: Incident | None, now: datetime) -> None:
        wrong, count, age_s = self._found(trouble)
        seen = self._seen[trouble]
        if wrong is None:
            return
        if wrong:
            seen.bad, seen.well = seen.bad or now, None
            if now - seen.bad >= PATIENCE.get(trouble, timedelta()):
                since = seen.bad - timedelta(seconds=age_s)
                found = Incident(self._name(trouble), since, self._holder, None, count, age_s)
                await self._incidents.began(found, now, LEASE)
            return
        seen.bad, seen.well = None, seen.well or now
        if lasting is not None and now - seen.well >= WELL:
            await self._incidents.ended(lasting.name, self._holder, now, LEASE, anyone=trouble in _OF_ALL)

    def _found(self, trouble: Trouble) -> tuple[bool | None, int, float]:
        """Say whether a thing is wrong (None: not known), with how many wait and for how long."""
        waits = self._figures.backlog
        late = LATE.total_seconds()
        match trouble:
            case Trouble.RUNNER:
                return None if self._figures.runner is None else not self._figures.runner, 0, 0.0
            case Trouble.GPU:
                return self._figures.gpu_shut, 0, 0.0
            case Trouble.QUEUE:
                return waits.runs_s > late or waits.runs > MANY_RUNS, waits.runs, waits.runs_s
            case Trouble.OUTBOX:
                count = waits.behind + waits.unanswered
                return count > 0, count, max(waits.behind_s, waits.unanswered_s)
            case _:
                return None, 0, 0.0

    async def _tell(self, now: datetime) -> None:
        self._reached = await self._incidents.admins(self._admins, self._figures.platform)
        known = await self._incidents.all()
        self._figures.incidents = frozenset(each.name for each in known if each.over_at is None)
        for each in known:
            event = told_of(each)
            if event is None or (each.over_at is not None and now - each.over_at > TOLD_OVER):
                continue
            for chat, _ in self._reached:
                await self._say(chat, event, each)

    async def _say(self, chat: str, event: IncidentTold, incident: Incident) -> None:
        key = (
            f"incident:{incident.name}:{incident.since.isoformat(timespec='seconds')}:{int(event.over_at is not None)}"
        )
        if f"{chat} {key}" in self._told:
            return
        try:
            await self._app.take(chat, event, key)
        except (BotError, TimeoutError) as error:
            LOG.warning("an admin is told later: %s", error)
            return
        self._told.add(f"{chat} {key}")

    async def _without_store(self, now: datetime) -> None:
        """Say that the store is away, once, where a platform can say something without it."""
        seen = self._seen[Trouble.STORE]
        seen.bad = seen.bad or now
        if self._called_out or not self._speaks or now - seen.bad < PATIENCE[Trouble.STORE]:
            return
        self._called_out = True
        reply = worded(Wording(self._app.course.phrases), IncidentTold(Trouble.STORE, seen.bad))
        if isinstance(self._chat, CallsOut):
            for chat, address in self._reached:
                await self._chat.call_out(chat, address, reply)


@asynccontextmanager
async def seen(address: str, figures: Figures) -> AsyncIterator[None]:
    """While it lasts, warnings are counted, and figures and health are shown on an address (HOST:PORT), if any.

    Raises:
        SettingsError: when the address cannot be had.
    """
    counting = LogCount(figures)
    logging.getLogger().addHandler(counting)
    try:
        async with AsyncExitStack() as stack:
            if address:
                host, _, port = address.rpartition(":")
                pages = {"/metrics": figures.page, "/health/live": alive, "/health/ready": figures.ready}
                try:
                    taken = await stack.enter_async_context(shown(host.strip("[]"), int(port), pages))
                except SetupError as error:
                    message = f"TASREE_METRICS={address}: {error}"
                    raise SettingsError(message) from error
                LOG.info("figures are shown on http://%s:%d/metrics", host, taken)
            yield
    finally:
        logging.getLogger().removeHandler(counting)


def told_of(incident: Incident) -> IncidentTold | None:
    """Give the event that tells of an incident; None for a row that another release made."""
    name, _, where = incident.name.partition(":")
    trouble = next((each for each in Trouble if each.value == name), None)
    if trouble is None:
        return None
    return IncidentTold(trouble, incident.since, incident.over_at, where, incident.count, incident.age_s)
