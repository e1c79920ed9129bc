"""The runners that live, as they say themselves; what no broker could bring is held against none.

Law: a sign of life that is malformed, another's or of another version is told to the log and counts for nothing.
"""

import asyncio
import logging

from nats.aio.msg import Msg

from sandbox_runner.broker import names
from sandbox_runner.broker.choosing import Seen
from sandbox_runner.broker.desk import Desk, first_words
from sandbox_runner.broker.letters import Beat, beat_of
from sandbox_runner.broker.line import FAULTS
from sandbox_runner.errors import WireError
from sandbox_runner.protocol import PROTOCOL_VERSION

LOG = logging.getLogger("tasree.broker")
MOST_NAMES = 1_000


class Roster:
    """Hears runners' signs of life, and lets new ones in."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.seen: dict[str, Seen] = {}
        self.heard = asyncio.Event()
        self.connected_at = 0.0
        self._other_versions: set[tuple[str, int]] = set()

    async def hear(self, letter: Msg) -> None:
        """Hear a sign of life."""
        name = letter.subject.rpartition(".")[2]
        try:
            beat = beat_of(letter.data)
        except WireError as fault:
            LOG.warning("runner %s: its sign of life is refused: %s", name[:32], first_words(fault))
            return
        if isinstance(beat, int):
            self.seen.pop(name, None)
            if (name, beat) not in self._other_versions and len(self._other_versions) < MOST_NAMES:
                self._other_versions.add((name, beat))
                LOG.warning("runner %s speaks version %d, this bot %d", name[:32], beat, PROTOCOL_VERSION)
            return
        if beat.runner != name or not names.is_runner(name):
            LOG.warning("runner %s: its sign of life is another's", name[:32])
            return
        new = name not in self.seen or self.seen[name].beat.life != beat.life
        if new and self._desk.depot is not None:
            try:
                await self._desk.depot.admit(name)
            except FAULTS as fault:
                LOG.warning("runner %s could not be admitted: %s", name, type(fault).__name__)
                return
        self._note(beat)
        self.heard.set()
        self._desk.changed.set()

    def _note(self, beat: Beat) -> None:
        now = self._desk.now()
        self.seen[beat.runner] = Seen(beat, now)
        for attempt in beat.held:
            follow = self._desk.attempts.get(attempt)
            if follow is not None and follow.runner == beat.runner:
                follow.first_held = follow.first_held or now
                follow.last_held = now

    def alive(self) -> list[Seen]:
        """Give the runners that live and are not stopping."""
        oldest = self.oldest()
        return [one for one in self.seen.values() if one.at >= oldest and not one.beat.stopping]

    def oldest(self) -> float:
        """Give the time before which a sign of life is too old; what no broker could bring is not held against one."""
        now = self._desk.now()
        if self._desk.depot is None or not self._desk.depot.connected:
            return 0.0
        if now - self.connected_at < self._desk.times.gone_s:
            return self.connected_at - 3600.0
        return now - self._desk.times.gone_s
