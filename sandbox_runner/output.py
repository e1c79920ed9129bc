"""What a job printed: kept at its head and tail as bytes, and shown as text that can do no harm to who reads it.

Law: bytes are counted and dropped, never parsed; decoding is for display only. Everything here is linear in its input.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox_runner.protocol import Stream

_PIECE = 1 << 16
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c"
    "\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""What shows nothing and changes what is around it (Unicode's categories Cc, Cf, Zl and Zp), line ends and tabs apart.

Nor what joins letters or keeps them apart (U+200C, U+200D), which Arabic script and emoji are made of, and the signs of
numbers and verses, which are seen."""
_OURS = re.compile(r'^  File "/harness/[^\n]*\n(?:    [^\n]*\n){0,2}', re.MULTILINE)
_INSIDE = 'File "/code/'


@dataclass(slots=True)
class Kept:
    """The head and tail of a stream, `most` bytes together, and how many bytes came in all."""

    most: int
    size: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    def feed(self, piece: bytes) -> None:
        """Take what came."""
        self.size += len(piece)
        room = self.most // 2 - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 4 * max(self.most, 1):
            self._cut()

    def stream(self) -> Stream:
        """Give head and tail as text for display; all in the head when nothing was dropped."""
        self._cut()
        dropped = self.size - len(self._head) - len(self._tail)
        if dropped == 0:
            return Stream(head=show(bytes(self._head + self._tail)), bytes=self.size)
        head, tail = show(bytes(self._head), cut_end=True), show(bytes(self._tail), cut_start=True)
        return Stream(head=head, tail=tail, bytes=self.size, dropped=dropped)

    def _cut(self) -> None:
        over = len(self._tail) - (self.most - self.most // 2)
        if over > 0:
            del self._tail[:over]


def show(content: bytes, *, cut_start: bool = False, cut_end: bool = False) -> str:
    """Decode for display: colours removed, control and direction characters as escapes, our own frames left out.

    `cut_start` and `cut_end` say that bytes are missing there, so half a character at that edge is dropped.
    """
    if cut_start:
        content = content.lstrip(bytes(range(0x80, 0xC0)))
    text = content.decode("utf-8", "replace")
    if cut_end:
        text = text.removesuffix("\ufffd")
    text = _ANSI.sub("", text.replace("\r\n", "\n"))
    text = _OURS.sub("", text).replace(_INSIDE, 'File "')
    return _CONTROL.sub(_escape, text)


def plain(text: str) -> str:
    """Make a text of the learner's that is no output (a value, an error's last line) as harmless as output."""
    return show(text.encode("utf-8", "backslashreplace"))


def plain_line(text: str) -> str:
    """Make a text of the learner's harmless that stands within a line of ours, as an error's name does: one line."""
    return plain(text).translate({ord("\n"): "\\n", ord("\t"): "\\t"})


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x100:  # noqa: PLR2004 - the width of an escape
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - the same


async def drain(reader: asyncio.StreamReader, kept: Kept, ceiling: int, over: Callable[[], None]) -> None:
    """Read a stream to its end, whatever its length; call `over` once when it passes the ceiling."""
    told = False
    while piece := await reader.read(_PIECE):
        if not told:
            kept.feed(piece)
            if kept.size > ceiling:
                told = True
                over()
