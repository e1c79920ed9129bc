"""What a reply becomes on Telegram: texts, pictures and files, each one call, with the buttons under it."""

import hashlib
from dataclasses import dataclass, field

from bot.engine.replies import Timings
from bot.posting import pieces
from bot.posting.pieces import Keyboard

TEXT_LIMIT = 4000
"""Code points of a text, after parsing; the platform takes 4,096."""
ENTITY_LIMIT = 90
"""Entities of a text; beyond 100 the platform drops formatting in silence."""
CAPTION_LIMIT = 1000
"""Code points of a caption; the platform takes 1,024."""
BYTE_LIMIT = 32_000
"""Bytes of a text with its tags; the platform refuses more than 32,768."""
BUTTON_LIMIT = 100
ROW_LIMIT = 8


@dataclass(frozen=True, slots=True)
class TextDraft:
    """A text as HTML."""

    html: str
    keyboard: Keyboard = ()
    kind: str = "text"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        return pieces.digest(self.kind, self.html, repr(self.keyboard))


@dataclass(frozen=True, slots=True)
class PhotoDraft:
    """A picture: its bytes, or what was measured, to be drawn as bars."""

    content: bytes | Timings = field(repr=False)
    caption: str = ""
    keyboard: Keyboard = ()
    kind: str = "photo"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        drawn = self.content if isinstance(self.content, bytes) else repr(self.content).encode()
        return pieces.digest(self.kind, hashlib.sha256(drawn).hexdigest(), self.caption, repr(self.keyboard))


@dataclass(frozen=True, slots=True)
class FileDraft:
    """A file to be saved: its bytes, or the name under which the store keeps them."""

    name: str
    content: bytes = field(repr=False)
    caption: str = ""
    keyboard: Keyboard = ()
    ref: str = ""
    kind: str = "file"

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        content = hashlib.sha256(self.content).hexdigest()
        return pieces.digest(self.kind, self.name, content, self.ref, self.caption, repr(self.keyboard))


Draft = TextDraft | PhotoDraft | FileDraft
