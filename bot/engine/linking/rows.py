"""What is kept of codes that join accounts, what a turn asks to be kept, and what it finds.

Law: a code is its learner's alone and falls with its use, its time, or a newer one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LIVES = timedelta(minutes=10)
"""So long a code can be used."""
GUESSES = 5
"""Wrong codes that a learner may write within `FORGIVEN`."""
FORGIVEN = timedelta(hours=1)


def joined_key(at: datetime) -> str:
    """Give the key of the event by which a chat hears that the code given then was used."""
    return f"joined:{at.isoformat()}"


@dataclass(frozen=True, slots=True)
class OfferLink:
    """Keep a code for the chat's learner, in the place of an earlier one."""

    code: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DropLink:
    """Let no one use this code any more, whosever it is: others have seen it. Empty: the learner's own."""

    code: str = ""


@dataclass(frozen=True, slots=True)
class MissLink:
    """Count a code that nobody was given."""

    at: datetime


@dataclass(frozen=True, slots=True)
class JoinLearners:
    """Make one learner of this chat's and the one who was given the code, which is used up by it.

    What is wished stays as it is here. `topics` gives the topic of each item of the course, by its id.
    """

    code: str
    at: datetime
    topics: Mapping[str, str] = field(default_factory=dict)


Row = OfferLink | DropLink | MissLink | JoinLearners


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A code that somebody was given: on which platform, in which chat, when; `mine` when by this very learner."""

    chat: str
    platform: str
    at: datetime
    mine: bool


@dataclass(frozen=True, slots=True)
class Linking:
    """What a turn on a code looks at.

    `private`: nobody else reads this chat. `platforms` are those of the learner's accounts. `missed` counts wrong codes
    since `since`. `found` is what the code that was written leads to.
    """

    private: bool = True
    platforms: tuple[str, ...] = ()
    missed: int = 0
    since: datetime | None = None
    found: FoundLink | None = None
