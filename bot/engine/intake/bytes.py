"""An uploaded file's bytes and name: text, a notebook, or a reason why not.

Law: nothing is guessed. Bytes are UTF-8, or what the file itself declares; else they are refused.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.engine.intake.lex import without_invisible
from bot.engine.intake.types import MAX_CHARACTERS, MAX_FILE_BYTES, Notice, NoticeKind, Reason, Refused

_ARCHIVES = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"\x28\xb5\x2f\xfd",
)
_BINARIES = (b"\x7fELF", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"MZ\x90", b"\x93NUMPY", b"\xca\xfe\xba\xbe")
_UTF16 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_COOKIE = re.compile(rb"^[ \t\f]*#.{0,80}?coding[:=][ \t]*([-\w.]{1,40})", re.ASCII)
_DECLARED = frozenset(
    "latin-1 latin1 iso-8859-1 iso-8859-6 iso-8859-15 cp1252 cp1256 windows-1252 windows-1256".split()
)
_TAR = 257


class Kind(StrEnum):
    """What a file is by its name."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    TEXT = "text"


_KINDS = {
    "py": Kind.PYTHON,
    "pyw": Kind.PYTHON,
    "pyi": Kind.PYTHON,
    "ipynb": Kind.NOTEBOOK,
    "txt": Kind.TEXT,
    "md": Kind.TEXT,
}


@dataclass(frozen=True, slots=True)
class Text:
    """A file that is text."""

    text: str
    kind: Kind
    name: str
    notices: tuple[Notice, ...] = ()


def decode(name: str, data: bytes) -> Text | Refused:
    """Turn a file into text, without its byte-order mark and with a newline for every end of line."""
    shown = _bare_name(name)
    kind = _KINDS.get(shown.rpartition(".")[2].lower()) if "." in shown else None
    if len(data) >= MAX_FILE_BYTES:
        return _too_large(shown, len(data), kind)
    if kind is None:
        return Refused(Reason.UNKNOWN_KIND, (("name", shown),))
    if not data.strip():
        return Refused(Reason.EMPTY_FILE, (("name", shown),))
    if data.startswith(_ARCHIVES) or data[_TAR : _TAR + 5] == b"ustar":
        return Refused(Reason.ARCHIVE, (("name", shown),))
    if data.startswith(_UTF16) or _wide(data):
        return Refused(Reason.UTF16, (("name", shown),))
    if data.startswith(_BINARIES) or b"\x00" in data:
        return Refused(Reason.BINARY, (("name", shown),))
    return _decoded(shown, kind, data)


def _too_large(name: str, size: int, kind: Kind | None) -> Refused:
    """Name the limit that code has to keep in the end, which is in characters; a notebook is mostly its outputs."""
    values = (("name", name), ("size", str(size)), ("limit", str(MAX_CHARACTERS)))
    if kind is Kind.NOTEBOOK:
        return Refused(Reason.NOTEBOOK_TOO_LARGE, (*values, ("bytes", str(MAX_FILE_BYTES))))
    return Refused(Reason.TOO_LARGE, values)


def _decoded(name: str, kind: Kind, data: bytes) -> Text | Refused:
    notices: tuple[Notice, ...] = ()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        declared = _declared(data) if kind is Kind.PYTHON else ""
        decoded = _as_declared(data, declared)
        if decoded is None:
            line = str(data.count(b"\n", 0, error.start) + 1)
            values = (("name", name), ("line", line), ("byte", f"0x{data[error.start]:02x}"))
            return Refused(Reason.NOT_UTF8, values)
        text = decoded
        notices = (Notice(NoticeKind.DECODED_AS, None, (("encoding", declared),)),)
    if not without_invisible(text).strip():
        return Refused(Reason.EMPTY_FILE, (("name", name),))
    return Text(text.replace("\r\n", "\n").replace("\r", "\n"), kind, name, notices)


def _bare_name(name: str) -> str:
    """Give the last part of a path, without marks that hide its ending, at most 80 characters of it."""
    seen = without_invisible(name).replace("\\", "/").rpartition("/")[2].strip()
    return "".join(char for char in seen if char.isprintable())[-80:] or "code"


def _wide(data: bytes) -> bool:
    """Whether every second byte of the beginning is zero: UTF-16 without a mark."""
    head = data[:64]
    half = len(head) // 2
    return half > 1 and any(head[start::2].count(0) >= half for start in (0, 1)) and head.count(0) <= half + 1


def _declared(data: bytes) -> str:
    for line in data.split(b"\n", 2)[:2]:
        if found := _COOKIE.match(line):
            return found.group(1).decode("ascii", "replace").lower().replace("_", "-")
    return ""


def _as_declared(data: bytes, declared: str) -> str | None:
    if declared not in _DECLARED:
        return None
    try:
        return data.decode(declared)
    except (UnicodeDecodeError, LookupError):
        return None
