"""What drawing a reply takes on every chat platform: long spans cut, lines of one width, clean text, names of files.

Law: nothing here knows a platform's markup. Lines of one width put figures before names that may be Arabic, for in a
block of code a line is drawn in the direction of its first strong letter.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.engine import replies

CHUNK = 700
"""Characters of a span that are written in one piece."""
STEP_MARKS = {"past": "✓", "now": "▶", "ahead": "·"}
LANGUAGES = {"python": "python", "diff": "diff", "pytb": "python"}
SUFFIXES = {"python": "py", "diff": "diff"}
_MARKS = dict.fromkeys([0x061C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF])
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_NAME = 60
_RESEND = re.compile(r"1:resend:([0-9]{1,9}):?")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Button:
    """A button: plain text, and the payload that it carries."""

    text: str
    payload: str


Keyboard = tuple[tuple[Button, ...], ...]


def resend(number: int) -> str:
    """Write the payload of a button that asks for a reply once more."""
    return f"1:resend:{number}:"


def resent(payload: str) -> int | None:
    """Read which reply is asked for once more; None where the payload, which is forgeable, says nothing such."""
    found = _RESEND.fullmatch(payload)
    return int(found[1]) if found else None


def digest(*parts: str) -> str:
    """Give what tells two contents apart: 32 hex digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def clean(text: str) -> str:
    """Drop marks of direction and controls, which could only turn our own sentences around or be refused."""
    return _CONTROLS.sub("", text.translate(_MARKS)).replace("\r", "").encode("utf-8", "replace").decode()


def shown_code(text: str) -> str:
    """Give code or output with nothing in it changed but what cannot be shown."""
    shown = _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4))
    return shown.encode("utf-8", "replace").decode().strip("\n") or " "


def chunks(one: replies.Span) -> tuple[replies.Span, ...]:
    """Cut a long span at its spaces; a link stays whole."""
    if len(one.text) <= CHUNK or isinstance(one, replies.Link):
        return (one,)
    rest, parts = one.text, []
    while rest:
        cut = rest.rfind(" ", 1, CHUNK) + 1 if len(rest) > CHUNK else len(rest)
        cut = cut or CHUNK
        parts.append(replace(one, text=rest[:cut]))
        rest = rest[cut:]
    return tuple(parts)


def ends(code: str, head: int, tail: int) -> tuple[str, str]:
    """Give the first lines and the last of a long text, each of about so many characters."""
    first, last = code[:head].rpartition("\n")[0], code[-tail:].partition("\n")[2]
    return first or code[:head], last or code[-tail:]


def attached(block: replies.Attachment) -> bytes:
    """Give the bytes of an attachment; none where its text is no base64."""
    try:
        return base64.b64decode(block.data, validate=True)
    except (binascii.Error, ValueError):
        return b""


def file_of(block: replies.CodeBlock) -> str:
    """Give the name of the file in which a long block goes out."""
    return f"{'code' if block.language == 'python' else 'output'}.{SUFFIXES.get(block.language, 'txt')}"


def rows(things: Sequence[T], columns: int, fits: Callable[[Sequence[T], int], bool]) -> list[tuple[T, ...]]:
    """Lay things out in rows, in reading order: as many in each as are wished, fewer where one of the rows has no room.

    `fits` tells whether these have room in a row of so many.
    """
    while True:
        made = [tuple(things[at : at + columns]) for at in range(0, len(things), columns)]
        if columns == 1 or all(fits(row, columns) for row in made):
            return made
        columns -= 1


def timing_lines(block: replies.Timings) -> list[str]:
    """Give what each variant took, in lines of one width: the time, the first call in brackets, the name."""
    width = max((len(row.shown) for row in block.rows), default=0)
    firsts = max((len(row.first_call) for row in block.rows), default=0)
    lines = []
    for row in block.rows:
        first = f"({row.first_call})" if row.first_call else ""
        between = f"  {first:<{firsts + 2}}  " if firsts else "  "
        lines.append(f"{row.shown:>{width}}{between}{row.name[:_NAME]}")
    return lines


def bits_lines(block: replies.Bits) -> list[str]:
    """Give the bits of a number in lines of one width: a row a format, in three groups, and the value behind."""
    width = max((len(row.name) for row in block.rows), default=0)
    lines: list[str] = []
    for row in block.rows:
        equals = "" if row.shown.startswith("≈") else "= "
        lines += [f"{row.name:<{width}}  {equals}{row.shown}", f"  {row.sign} {row.exponent} {row.fraction}"]
    return lines


def safe_name(name: str) -> str:
    """Give a bare ASCII file name that starts with no dot and holds no path."""
    bare = name.rsplit("/", 1)[-1]
    kept = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in bare)
    return kept.lstrip("._-")[:80] or "file"
