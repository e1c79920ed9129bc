"""What a server's owner set: where the bot speaks, when it is quiet, who may use the GPU and how often; pure.

Law: without any rule the bot speaks wherever it is asked. What is stored is read leniently: a field that is damaged
counts as never set. Minutes count from local midnight.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import cast

from bot.engine.reminders import zones

MOST = 25
"""Channels or roles that are named: what the platform's own menus take."""
EVERYBODY: tuple[int, ...] = ()


class Where(StrEnum):
    """How an answer may be given."""

    OPENLY = "openly"
    QUIETLY = "quietly"
    """it is the quiet time: only the asker may see it"""
    ELSEWHERE = "elsewhere"
    """the bot does not speak in this channel"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What was set, by the ids of channels and roles.

    `channels` empty: everywhere. `gpu_roles` empty: everybody. `gpu_daily` is how many runs on the GPU each may have a
    day, None for as many as they like. `questions` is a channel in which every text is heard as a question, 0 for none.
    """

    channels: tuple[int, ...] = ()
    quiet_from: int = 0
    quiet_to: int = 0
    zone: str = "UTC"
    gpu_roles: tuple[int, ...] = EVERYBODY
    gpu_daily: int | None = None
    questions: int = 0

    def changed(self, **fields: object) -> "Rules":
        """Give a copy with some fields changed."""
        return replace(self, **fields)  # type: ignore[arg-type]

    def where(self, channels: Collection[int], now: datetime) -> Where:
        """Tell how to answer in a channel; `channels` are its id and, of a thread, that of its channel."""
        if self.channels and not {*self.channels, self.questions} & set(channels):
            return Where.ELSEWHERE
        return Where.QUIETLY if self.is_quiet(now) else Where.OPENLY

    def is_quiet(self, now: datetime) -> bool:
        """Tell whether it is the quiet time."""
        local = zones.local(now, self.zone if zones.exists(self.zone) else "UTC")
        minute = local.hour * 60 + local.minute
        if self.quiet_from <= self.quiet_to:
            return self.quiet_from <= minute < self.quiet_to
        return minute >= self.quiet_from or minute < self.quiet_to

    def gpu_of(self, roles: Collection[int]) -> int | None:
        """Give how many runs on the GPU a day somebody with these roles may have; None for as many as they like."""
        if self.gpu_roles and not set(self.gpu_roles) & set(roles):
            return 0
        return self.gpu_daily


def to_json(rules: Rules) -> str:
    """Write rules for the store."""
    return json.dumps(asdict(rules))


def from_json(text: str) -> Rules:
    """Read what was stored; what cannot be read counts as never set."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        found = {}
    given = cast("Mapping[str, object]", found) if isinstance(found, dict) else {}
    daily, questions, zone = given.get("gpu_daily"), given.get("questions"), given.get("zone")
    return Rules(
        channels=_ids(given.get("channels")),
        quiet_from=_minute(given.get("quiet_from")),
        quiet_to=_minute(given.get("quiet_to")),
        zone=zone if isinstance(zone, str) and zones.exists(zone) else "UTC",
        gpu_roles=_ids(given.get("gpu_roles")),
        gpu_daily=daily if isinstance(daily, int) and _is_count(daily) else None,
        questions=questions if isinstance(questions, int) and _is_count(questions) else 0,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ids(value: object) -> tuple[int, ...]:
    return tuple(each for each in value if _is_count(each))[:MOST] if isinstance(value, list) else ()


def _minute(value: object) -> int:
    return value if isinstance(value, int) and _is_count(value) and value < 24 * 60 else 0
