"""What delivery needs of a store and of a platform, and the records that pass between them.

Law: a call that sends is written down before it is made; one whose end is not known is `unknown` and not made again
unless the learner asks for it, or the reply has become another.
"""

from collections.abc import Awaitable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Origin:
    """What a turn answers: the platform's id of it, and the address at which it was said."""

    answers: str = ""
    address: str = ""


ORIGIN: ContextVar[Origin] = ContextVar("origin", default=Origin())  # noqa: B039 - frozen
"""That of the turn under way; what the turn began inherits it, and its replies keep it in the store."""


GPU_LEFT: ContextVar[int | None] = ContextVar("gpu_left", default=None)
"""How many runs on a GPU are left today to whom the turn under way is for, where a server's owner counts them."""


class State(StrEnum):
    """How a part of a reply stands on the platform."""

    SENDING = "sending"
    """the call is being made, or was when the process ended"""
    SENT = "sent"
    UNKNOWN = "unknown"
    """it may have arrived; the learner was not told yet"""
    OFFERED = "offered"
    """it may have arrived; the learner was offered to have it again"""
    REFUSED = "refused"
    """known not to have gone out"""
    GONE = "gone"
    """taken back, or deleted by somebody: nothing is shown in its place"""


@dataclass(frozen=True, slots=True)
class PostedPart:
    """One part of a reply on the platform.

    `external` is the platform's id of it; `digest` and `change` tell what it showed last; `answers` is the platform's
    id of what the reply answers.
    """

    chat: str
    number: int
    part: int
    state: State
    kind: str
    digest: str
    change: int
    external: str = ""
    answers: str = ""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Every reply of the chat said or edited up to change `delivered` is out, or known not to be."""

    chat: str
    delivered: int


@dataclass(frozen=True, slots=True)
class Silent:
    """The chat takes nothing any more (`silent`), or takes replies again."""

    chat: str
    silent: bool


@dataclass(frozen=True, slots=True)
class Done:
    """An arrival was answered; its text is not needed any more."""

    platform: str
    key: str


Mark = PostedPart | Cursor | Silent | Done


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Where a chat's replies go: `address` is the adapter's own writing of it."""

    chat: str
    address: str
    delivered: int
    silent: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """An update as it came, before anything was done with it: `key` is the platform's own id of it.

    What is of one `lane` is answered in turn, by rising `order`.
    """

    key: str
    body: str
    lane: str = ""
    order: int = 0


class Outbox(Protocol):
    """What is known of replies on their way out, kept in the store."""

    async def place(self, chat: str, address: str) -> None:
        """Say where the chat's replies go; whoever writes takes replies again."""
        ...

    async def mailbox(self, chat: str) -> Mailbox | None:
        """Give the chat's mailbox; None when nobody said yet where its replies go."""
        ...

    async def parts(self, chat: str, number: int) -> tuple[PostedPart, ...]:
        """Give the parts of a reply that were sent or tried, in order."""
        ...

    async def answering(self, chat: str, answers: str) -> tuple[PostedPart, ...]:
        """Give the parts shown now that answer what the platform calls `answers`."""
        ...

    async def in_hand(self, chat: str, answers: str, runs: Sequence[str]) -> bool:
        """Tell whether code of what the platform calls `answers` is still being read, or one of these runs goes on."""
        ...

    async def holder(self, address: str, external: str) -> str | None:
        """Give the chat to which a part at this address belongs; None when it is not ours."""
        ...

    async def unknown(self, chat: str) -> tuple[PostedPart, ...]:
        """Give the parts that may have arrived, and of which the learner was not told.

        To be asked by whoever has the lease and is sending nothing: what is being sent was so when a process ended.
        """
        ...

    def write(self, marks: Sequence[Mark]) -> Awaitable[None]:
        """Begin to write marks, in the order of calling; whoever awaits knows that they are on the disk.

        Marks of many callers share a transaction.
        """
        ...

    async def behind(self, platform: str, *, forsaken: bool = False) -> tuple[str, ...]:
        """Give the chats with something to go out or to tell; of those `forsaken` alone that no process has."""
        ...

    async def hold(self, chat: str, holder: str, for_s: float) -> bool:
        """Take or renew the lease of bringing replies to a chat; False while another process has it."""
        ...

    async def keep_held(self, chats: Sequence[str], holder: str, for_s: float) -> frozenset[str]:
        """Renew the leases of these chats; give those that this process still has."""
        ...

    async def let_go(self, chat: str, holder: str) -> bool:
        """Give the lease back; False, and it is kept, when something came that has to go out."""
        ...

    async def stands(self, platform: str, address: str, *, silent: bool) -> None:
        """Say that nothing is taken at an address any more, or again."""
        ...

    async def moved(self, platform: str, old: str, new: str) -> None:
        """Follow a chat of many to its new address."""
        ...


class Inbox(Protocol):
    """Updates as they came: taken in once each, and not forgotten before they are answered."""

    async def take_in(self, platform: str, arrivals: Sequence[Arrival], now: datetime) -> tuple[Arrival, ...]:
        """Write down what came; give what had not come before."""
        ...

    async def left(self, platform: str, before: datetime | None = None) -> tuple[Arrival, ...]:
        """Give what came (before a time) and was not answered, oldest first."""
        ...

    async def alone(self) -> bool:
        """Tell whether no other process takes updates in here."""
        ...

    async def hold_lane(self, platform: str, lane: str, holder: str, for_s: float) -> bool:
        """Take the lease of answering what is in a lane; False while another process has it."""
        ...

    async def keep_lanes(self, platform: str, holder: str, for_s: float) -> None:
        """Renew every lease of a holder."""
        ...

    async def in_lane(self, platform: str, lane: str) -> tuple[Arrival, ...]:
        """Give what waits in a lane, in order."""
        ...

    async def leave_lane(self, platform: str, lane: str, holder: str, besides: Sequence[str]) -> bool:
        """Give the lease back; False, and it is kept, when something waits there besides these keys."""
        ...

    async def leave_lanes(self, platform: str, holder: str) -> None:
        """Give every lease of a holder back, whatever waits."""
        ...

    async def forget_before(self, platform: str, then: datetime) -> None:
        """Drop what was answered before a time: the platform does not deliver it again so late."""
        ...


@dataclass(frozen=True, slots=True)
class Pass:
    """A place in a window of at most `count` calls in any `seconds`."""

    name: str
    count: int
    seconds: float


class Paces(Protocol):
    """When calls may go, kept in the store for all processes that have the same account of a platform."""

    async def reserve(self, platform: str, passes: Sequence[Pass]) -> float:
        """Take the next place that all of these windows have in common; gives the seconds until it."""
        ...

    async def hold_back(self, platform: str, name: str, seconds: float) -> None:
        """Let no call of a window go for some seconds."""
        ...

    async def forget_paces(self, platform: str) -> None:
        """Drop the windows in which nothing went out for long."""
        ...


D_contra = TypeVar("D_contra", contravariant=True)


class Line(Protocol[D_contra]):
    """A platform's calls; each is one try, and raises one of the errors of `errors.py`."""

    async def send(self, address: str, draft: D_contra, answers: str) -> str:
        """Send a part, as an answer to the platform's `answers` where that helps; give the platform's id of it."""
        ...

    async def edit(self, address: str, external: str, draft: D_contra) -> None:
        """Put another content in the place of a part; the same content is no error."""
        ...

    async def remove(self, address: str, external: str) -> None:
        """Take a part back; one that is gone already is no error."""
        ...
