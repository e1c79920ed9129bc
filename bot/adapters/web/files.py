"""Files that a run left, shown or offered: untrusted bytes; only a sound PNG is a picture, the rest is a download.

Law: a browser gets nothing that it could interpret: no SVG, no HTML, a media type of ours, a name of safe characters.
"""

import base64
import binascii
import re
import struct

from markupsafe import Markup

from bot.engine.replies import Attachment, File

PIXELS = 8_000_000
"""Pixels of a picture beyond which it is only offered: a small file can unfold to gigabytes."""

OFFERED = frozenset({"application/json", "text/csv"})
"""Media types of our own files; nothing else is named to a browser."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = 24
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_LIMIT = 80
_UNITS = 1024


def png_size(data: bytes) -> tuple[int, int] | None:
    """Give width and height in pixels as the header says; None when it is no PNG of 1 to `PIXELS` pixels."""
    if len(data) < _HEAD or not data.startswith(_SIGNATURE) or data[8:16] != b"\x00\x00\x00\rIHDR":
        return None
    width, height = struct.unpack(">II", data[16:_HEAD])
    return (width, height) if 0 < width * height <= PIXELS else None


def safe_name(name: str) -> str:
    """Give a bare ASCII file name that starts with no dot and holds no path."""
    return _UNSAFE.sub("_", name.rsplit("/", 1)[-1]).lstrip("._-")[:_NAME_LIMIT] or "file"


def attachment(block: Attachment | File, download: str) -> Markup:
    """Give a picture, or a link to save the file."""
    if isinstance(block, File):
        return offered(block, download)
    try:
        data = base64.b64decode(block.data, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    name = safe_name(block.name)
    size = png_size(data) if block.media == "image/png" else None
    link = Markup(
        '<a class="save" download="{}" href="data:application/octet-stream;base64,{}">{} <bdi dir="ltr">{}</bdi> '
        '<bdi dir="ltr" class="size">{}</bdi></a>'
    ).format(name, base64.b64encode(data).decode(), download, name, _worded(len(data)))
    if size is None:
        return Markup('<p class="file">{}</p>').format(link)
    return Markup(
        '<figure class="picture"><img src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">'
        "<figcaption>{}</figcaption></figure>"
    ).format(base64.b64encode(data).decode(), name, *size, link)


def offered(block: File, download: str) -> Markup:
    """Give a link to a file of ours, which only the learner's own cookie opens."""
    return Markup(
        '<p class="file"><a class="save" download="{}" href="/files/{}">{} <bdi dir="ltr">{}</bdi> '
        '<bdi dir="ltr" class="size">{}</bdi></a></p>'
    ).format(safe_name(block.name), safe_name(block.ref), download, safe_name(block.name), _worded(block.size))


def _worded(size: int) -> str:
    if size < _UNITS:
        return f"{size} B"
    return f"{size / _UNITS:.0f} KiB" if size < _UNITS**2 else f"{size / _UNITS**2:.1f} MiB"
