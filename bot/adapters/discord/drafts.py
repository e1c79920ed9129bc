"""What a reply becomes on Discord: texts and files, each one call, with the buttons under it."""

import hashlib
from dataclasses import dataclass, field

from bot.engine.replies import Timings
from bot.posting import pieces
from bot.posting.pieces import Keyboard

TEXT_LIMIT = 1900
"""Code points of a text; the platform takes 2,000."""
ROWS, ROW_LIMIT = 5, 5
LABEL_LIMIT = 80
FILE_LIMIT = 10 << 20
"""Bytes of a file that every server takes."""


@dataclass(frozen=True, slots=True)
class TextDraft:
    """A text in the platform's Markdown."""

    text: str
    keyboard: Keyboard = ()
    kind: str = "text"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        return pieces.digest(self.kind, self.text, repr(self.keyboard))


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
        return pieces.digest(
            self.kind, self.name, hashlib.sha256(drawn).hexdigest(), self.ref, self.text, repr(self.keyboard)
        )


Draft = TextDraft | FileDraft
