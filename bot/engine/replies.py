"""What is said, as neutral blocks that every platform renders in its own way.

Law: text stands in logical order and without direction marks; marks, escaping and length limits belong to each
adapter's `render.py`. Blocks are split whole, never inside.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter


@dataclass(frozen=True, slots=True)
class Text:
    """Plain prose."""

    text: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Code:
    """Inline code, an identifier, a shape, a `/command`: left to right, never linked."""

    text: str
    kind: Literal["code"] = "code"


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its sign, range or unit, already worded with digits 0-9: left to right."""

    text: str
    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True)
class Strong:
    """Prose with weight."""

    text: str
    kind: Literal["strong"] = "strong"


@dataclass(frozen=True, slots=True)
class Link:
    """A link out of the chat; only from content, never from a learner's text."""

    text: str
    url: str
    kind: Literal["link"] = "link"


Span = Annotated[Text | Code | Number | Strong | Link, Field(discriminator="kind")]
Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of what follows."""

    spans: Spans
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One bubble's worth of prose at most."""

    spans: Spans
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; `numbered` where the order matters."""

    items: tuple[Spans, ...]
    numbered: bool = False
    kind: Literal["bullets"] = "bullets"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code or output, left to right, scrolling by itself. `language` is `python`, `text`, `diff` or `pytb`."""

    code: str
    language: str = "python"
    title: str = ""
    kind: Literal["code_block"] = "code_block"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the course: the key in `Course.pictures`; dark screens take the key with `_dark` before `.png`."""

    key: str
    alt: str
    caption: Spans = ()
    kind: Literal["picture"] = "picture"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file or figure that a run left: base64 data and its media type; untrusted, shown as a picture if it is one."""

    name: str
    media: str
    data: str
    kind: Literal["attachment"] = "attachment"


@dataclass(frozen=True, slots=True)
class File:
    """A file of ours for the learner to keep; its bytes stay in the store under `ref`, `size` counts them."""

    ref: str
    name: str
    media: str
    size: int
    kind: Literal["file"] = "file"


@dataclass(frozen=True, slots=True)
class TimingRow:
    """One variant: times in nanoseconds for drawing, `shown` already worded (digits as the interval allows)."""

    name: str
    median_ns: float
    low_ns: float
    high_ns: float
    shown: str
    first_call: str = ""


@dataclass(frozen=True, slots=True)
class RatioRow:
    """One comparison: more than 1 means that `name` is faster than `against`; `shown` and `verdict` are worded."""

    name: str
    against: str
    point: float
    low: float
    high: float
    shown: str
    interval: str
    claim: str
    verdict: Spans


@dataclass(frozen=True, slots=True)
class RoofPoint:
    """A variant on the roofline: operations a byte, operations a second, and the share of its bound, worded."""

    name: str
    intensity: float
    rate: float
    shown: str


@dataclass(frozen=True, slots=True)
class Roofline:
    """What a machine can do at most, operations a second (a roof a precision) and bytes a second, and where times lie.

    `across` and `upward` name the axes.
    """

    points: tuple[RoofPoint, ...]
    compute: tuple[float, ...]
    memory: float
    across: str
    upward: str
    alt: str


@dataclass(frozen=True, slots=True)
class Timings:
    """What was measured, with its intervals and the machine: a table and bars, as each platform can.

    What `roofline` shows is said in the reply's sentences too: a platform may leave it out.
    """

    rows: tuple[TimingRow, ...]
    ratios: tuple[RatioRow, ...]
    machine: Spans
    alt: str
    roofline: Roofline | None = None
    kind: Literal["timings"] = "timings"


@dataclass(frozen=True, slots=True)
class BitsRow:
    """A number in one format: its bits as texts of 0 and 1, and the value they stand for, already worded."""

    name: str
    sign: str
    exponent: str
    fraction: str
    shown: str


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits of a number, a row a format; `fields` name sign, exponent and fraction, in this order."""

    rows: tuple[BitsRow, ...]
    fields: tuple[str, str, str]
    alt: str
    kind: Literal["bits"] = "bits"


@dataclass(frozen=True, slots=True)
class Bar:
    """A share from 0 to 1 under its name; `shown` words it, `state` colours it and `says` words the state."""

    name: str
    share: float
    shown: str
    state: Literal["new", "growing", "mastered"]
    says: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares as bars, right to left like the prose around them; where nothing is drawn, `in_words` says them."""

    bars: tuple[Bar, ...]
    alt: str
    kind: Literal["bars"] = "bars"

    def in_words(self) -> "Bullets":
        """Give the same as a list."""
        return Bullets(
            tuple(
                (Text(f"{bar.name}: "), *((Number(bar.shown), Text("، ")) if bar.shown else ()), Text(bar.says))
                for bar in self.bars
            )
        )


@dataclass(frozen=True, slots=True)
class Step:
    """A phase of a run under way: `done` of `total` where both are known; `state` is `past`, `now` or `ahead`."""

    label: str
    state: Literal["past", "now", "ahead"]
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """A run's phases, ticking."""

    steps: tuple[Step, ...]
    kind: Literal["steps"] = "steps"


@dataclass(frozen=True, slots=True)
class Choice:
    """A button: plain label, payload in the grammar of `buttons.py`."""

    label: str
    payload: str


@dataclass(frozen=True, slots=True)
class Choices:
    """Buttons under a reply, in reading order; `columns` is a wish."""

    choices: tuple[Choice, ...]
    columns: int = 1
    kind: Literal["choices"] = "choices"


Block = Annotated[
    Heading | Paragraph | Bullets | CodeBlock | Picture | Attachment | File | Timings | Bits | Bars | Steps | Choices,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, slots=True)
class Reply:
    """Blocks said together."""

    blocks: tuple[Block, ...]


_ADAPTER: TypeAdapter[Reply] = TypeAdapter(Reply)


def to_json(reply: Reply) -> str:
    """Serialise for the store."""
    return _ADAPTER.dump_json(reply).decode()


def from_json(text: str) -> Reply:
    """Load what `to_json` wrote.

    Raises:
        pydantic.ValidationError: when the text is not a reply.
    """
    return _ADAPTER.validate_json(text)
