"""What a reply becomes on Discord: texts and files, each one call, with the buttons under it."""

import hashlib
from dataclasses import dataclass, field

from bot.engine.replies import Timings

TEXT_LIMIT = 1900
"""Code points of a text; the platform takes 2,000."""
ROWS, ROW_LIMIT = 5, 5
LABEL_LIMIT = 80
FILE_LIMIT = 10 << 20
"""Bytes of a file that every server takes."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button: plain text, and at most 100 characters that it carries."""

    text: str
    payload: str


Keyboard = tuple[tuple[Button, ...], ...]


@dataclass(frozen=True, slots=True)
class TextDraft:
    """A text in the platform's Markdown."""

    text: str
    keyboard: Keyboard = ()
    kind: str = "text"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        return _digest(self.kind, self.text, repr(self.keyboard))


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A file or picture: its bytes, what was measured (to be drawn as bars), or its name in the store (`ref`)."""

    name: str
    content: bytes | Timings = field(repr=False)
    text: str = ""
    keyboard: Keyboard = ()
    ref: str = ""
    kind: str = "file"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        drawn = self.content if isinstance(self.content, bytes) else repr(self.content).encode()
        return _digest(
            self.kind, self.name, hashlib.sha256(drawn).hexdigest(), self.ref, self.text, repr(self.keyboard)
        )


Draft = TextDraft | FileDraft


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
