"""The page and its parts, read once and kept in memory: nothing that a visitor names is ever looked up on the disk.

Law: a part's address holds a digest of all parts, so it may be kept for ever; the page itself is asked for each time.
"""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent / "static"

_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_PACKED = frozenset({".css", ".js", ".svg"})


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its bytes, the same packed with gzip where that helps, and its media type."""

    body: bytes
    packed: bytes | None
    media: str


@dataclass(frozen=True, slots=True)
class Pages:
    """The page's HTML, its digest, and every part by its path below `root` (`/static/<digest>/`)."""

    html: bytes
    digest: str
    root: str
    parts: Mapping[str, Part]


def load(folder: Path = FOLDER, *, cap: int) -> Pages:
    """Read everything; `cap` is the most bytes that one frame of the page may have.

    Raises:
        OSError: when a file cannot be read.
        KeyError: when a file has a type that is not served, or the page names a value that is not given.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "page.html")
    parts = {path.relative_to(folder).as_posix(): _part(path) for path in paths}
    digest = hashlib.sha256()
    for name, part in parts.items():
        digest.update(f"{name} {len(part.body)} ".encode() + part.body)
    root = f"/static/{digest.hexdigest()[:16]}/"
    page = Template((folder / "page.html").read_text(encoding="utf-8"))
    html = page.substitute(root=root, cap=cap).encode()
    return Pages(html, hashlib.sha256(html).hexdigest()[:16], root, parts)


def _part(path: Path) -> Part:
    body = path.read_bytes()
    packed = gzip.compress(body, mtime=0) if path.suffix in _PACKED else None
    return Part(body, packed, _MEDIA[path.suffix])
