"""What chat platforms share of a group's quiz: whether an event is a member's or the group's, and the group's turn.

Law: only the command and the buttons of the quiz are the group's; every other press and text stays its member's. What
is for one member's eyes is given back, to be told quietly, and stands nowhere.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from bot.engine import buttons, commands
from bot.engine.buttons import Op
from bot.engine.commands import Command
from bot.engine.effects import Turn, Whisper
from bot.engine.events import ButtonPressed, Event, GroupAsked, GroupPressed, Person, TextSent
from bot.engine.groups import asking, showing
from bot.ports import ChatRow

_MOST = 20_000


class RoomTalk(Protocol):
    """The face of the app that this needs."""

    async def enter(self, platform: str, external: str, account: str = "", *, greet: bool = True) -> ChatRow:
        """Give the chat of this account."""
        ...

    async def room(self, platform: str, external: str) -> str:
        """Give the chat of a group."""
        ...

    async def answered(self, chat: str, event: Event, key: str) -> Turn | None:
        """Answer an event; None when its key was taken before."""
        ...


class Placing(Protocol):
    """What keeps where a chat's replies go."""

    async def place(self, chat: str, address: str) -> None:
        """Say it."""
        ...


class Bringing(Protocol):
    """What brings a chat's replies there."""

    @property
    def silenced(self) -> set[str]:
        """Chats that took nothing any more."""
        ...

    def placed(self, chat: str, address: str) -> None:
        """Hear where a chat's replies go."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """A member's place in a group: `room` names the group's chat, `external` the member's own there."""

    room: str
    address: str
    external: str
    account: str
    name: str


def is_groups(event: Event) -> bool:
    """Tell whether an event that came in a group is the group's and not its member's alone."""
    match event:
        case TextSent(text):
            said = commands.parse(text)
            return said is not None and said.command is Command.GROUP
        case ButtonPressed(payload):
            button = buttons.parse(payload)
            return button is not None and button.op is Op.GROUP
        case _:
            return False


class Rooms:
    """The groups of one platform."""

    def __init__(self, platform: str, talk: RoomTalk, kept: Placing, courier: Bringing) -> None:
        self._platform = platform
        self._talk = talk
        self._kept = kept
        self._courier = courier
        self._places: dict[str, tuple[str, str]] = {}

    def forget(self) -> None:
        """Know nothing by heart: groups moved, or let us in again."""
        self._places.clear()

    async def take(self, seat: Seat, event: Event, key: str, is_admin: Callable[[], Awaitable[bool]]) -> str:
        """Answer an event of a group; give what is to be told to its member alone, empty when nothing is."""
        member = await self._member(seat)
        admin = await is_admin() if _by_right(event) else False
        person = Person(member, seat.name[:200], admin)
        turn = await self._talk.answered(await self._room(seat), _for_group(event, person), key)
        told = [effect.text for effect in turn.effects if isinstance(effect, Whisper)] if turn is not None else []
        return told[-1] if told else ""

    async def _member(self, seat: Seat) -> str:
        """Give the member's own chat; where nothing was said in it, it has no address, and nothing is sent there."""
        # Asked for each time: a member who was forgotten is a new one.
        return (await self._talk.enter(self._platform, seat.external, seat.account, greet=False)).id

    async def _room(self, seat: Seat) -> str:
        known = self._places.get(seat.room)
        if known is not None and known[1] == seat.address and known[0] not in self._courier.silenced:
            return known[0]
        chat = await self._talk.room(self._platform, seat.room)
        await self._kept.place(chat, seat.address)
        self._courier.placed(chat, seat.address)
        if len(self._places) >= _MOST:
            self._places.clear()
        self._places[seat.room] = (chat, seat.address)
        return chat


def _by_right(event: Event) -> bool:
    """Tell whether an event does what only some may do."""
    match event:
        case ButtonPressed(payload):
            button = buttons.parse(payload)
            return button is not None and button.option in showing.CONTROLS - {showing.BOARD}
        case TextSent(text):
            said = commands.parse(text)
            return said is not None and asking.read(said.argument).what == "end"
        case _:
            return False


def _for_group(event: Event, by: Person) -> GroupAsked | GroupPressed:
    if isinstance(event, ButtonPressed):
        return GroupPressed(by, event.payload)
    said = commands.parse(event.text) if isinstance(event, TextSent) else None
    return GroupAsked(by, said.argument if said else "")
