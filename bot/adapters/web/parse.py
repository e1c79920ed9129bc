"""What the page's script sends, read strictly: one text frame of JSON to one closed type.

Law: frames are forgeable. Reading never raises; what does not fit is `Unreadable`, with the id when there is one, so
that the page can be told which of its events was refused.
"""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bot.engine.events import ButtonPressed, CodeSent, Event, FileSent, TextSent

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$")]
"""The client's own id of an event: it comes again when the event is sent again."""

Change = Annotated[int, Field(ge=0, le=2**31 - 1)]
"""A change or reply number, as far as a database's numbers go."""

_NAMED = re.compile(r'"id":\s?"([A-Za-z0-9-]{8,64})"')
_HEAD = 200
"""Characters in which the page's own frames name their event, even where the rest cannot be read."""

_NAME_LIMIT = 255
_PAYLOAD_LIMIT = 200


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", val_json_bytes="base64")


class Hello(_Closed):
    """The first frame of a connection: everything after change `since` is wanted."""

    t: Literal["hello"]
    since: Change


class Earlier(_Closed):
    """The replies before number `before` are wanted."""

    t: Literal["earlier"]
    before: Change


class Ping(_Closed):
    """Is anybody there? A script cannot see the protocol's own pings."""

    t: Literal["ping"]


class TooLarge(_Closed):
    """The page kept back an event that is over the hard cap, and wants the words for it."""

    t: Literal["too_large"]
    id: Id


class _Text(_Closed):
    kind: Literal["text"]
    text: str


class _Code(_Closed):
    kind: Literal["code"]
    source: str
    measure: bool = False
    filename: Annotated[str, Field(min_length=1, max_length=_NAME_LIMIT)] = "code.py"


class _File(_Closed):
    kind: Literal["file"]
    name: Annotated[str, Field(min_length=1, max_length=_NAME_LIMIT)]
    data: bytes


class _Press(_Closed):
    kind: Literal["press"]
    payload: Annotated[str, Field(max_length=_PAYLOAD_LIMIT)]


class Sent(_Closed):
    """An event of the learner's, under the client's own id."""

    t: Literal["send"]
    id: Id
    event: Annotated[_Text | _Code | _File | _Press, Field(discriminator="kind")]


class Unreadable(_Closed):
    """A frame that is none of the above; `id` is empty when not even that can be read."""

    t: Literal["unreadable"] = "unreadable"
    id: str = ""


Frame = Hello | Earlier | Ping | TooLarge | Sent | Unreadable

_FRAMES: TypeAdapter[Hello | Earlier | Ping | TooLarge | Sent] = TypeAdapter(
    Annotated[Hello | Earlier | Ping | TooLarge | Sent, Field(discriminator="t")]
)


def frame(text: str) -> Frame:
    """Read one text frame."""
    try:
        return _FRAMES.validate_json(text)
    except ValidationError:
        named = _NAMED.search(text, 0, _HEAD)
        return Unreadable(id=named.group(1) if named else "")


def event(sent: Sent) -> Event:
    """Give the event that happened."""
    match sent.event:
        case _Text(text=text):
            return TextSent(text)
        case _Code(source=source, filename=filename, measure=measure):
            return CodeSent(source, filename, measure)
        case _File(name=name, data=data):
            return FileSent(name, data)
        case _Press(payload=payload):
            return ButtonPressed(payload)
