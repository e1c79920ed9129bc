"""Collects what the learner's code left in its folder, from inside the sandbox and after everything else has ended.

Law: regular files only, opened without following a link, of one name each, and under caps on count, apparent and
allocated size, depth, entries looked at and time. What is left out is named with the reason. Standard library only.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

_MEDIA = {".png": "image/png", ".csv": "text/csv", ".json": "application/json", ".txt": "text/plain"}
_SPARSE = 1 << 16
_LONGEST_NAME = 200
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class Caps:
    """How much is collected: files, bytes a file and in all, folder depth, entries looked at, seconds, names told."""

    files: int
    file_bytes: int
    total_bytes: int
    depth: int = 4
    entries: int = 2000
    seconds: float = 1.0
    told: int = 10


@dataclass(frozen=True)
class Entry:
    """A file that comes back (`why` empty) or one that was skipped; `count` > 1 stands for that many unnamed ones."""

    name: str
    why: str = ""
    content: bytes = b""
    count: int = 1

    def header(self) -> dict:  # type: ignore[type-arg]
        """As the keeper reports it."""
        if self.why:
            return {"kind": "skipped", "name": self.name, "why": self.why, "count": self.count}
        return {"kind": "file", "name": self.name}


def collect(folder: str, caps: Caps) -> Iterator[Entry]:
    """Walk `folder` breadth first, in the order of names, and give what comes back and what does not."""
    taken = total = told = untold = 0
    for name, descriptor, unfit in _walk(folder, caps):
        content, why = (b"", unfit) if unfit else _read(name, descriptor, caps, taken, total)
        if not why:
            taken, total = taken + 1, total + len(content)
            yield Entry(name, content=content)
        elif told < caps.told:
            told += 1
            yield Entry(name[:_LONGEST_NAME], why)
        else:
            untold += 1
    if untold:
        yield Entry("", "more", count=untold)


def _walk(folder: str, caps: Caps) -> Iterator[tuple[str, int, str]]:
    """Give (name, folder descriptor, why it is skipped or empty) for everything that is not a folder."""
    deadline = time.monotonic() + caps.seconds
    looked = 0
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)  # the learner's code may have shut its own folder
    root = os.open(folder, _FOLDER)
    waiting: list[tuple[str, ...]] = [()]
    try:
        while waiting:
            parts = waiting.pop(0)
            prefix, descriptor = "".join(f"{part}/" for part in parts), _open_below(root, parts)
            if descriptor < 0:
                yield prefix.rstrip("/"), root, "unreadable"
                continue
            try:
                for name in _names(descriptor, caps.entries - looked + 1):
                    looked += 1
                    shown = prefix + name
                    if looked > caps.entries or time.monotonic() > deadline:
                        yield shown, descriptor, "too_many"
                        return
                    mode = _mode(name, descriptor)
                    if not mode:
                        yield shown, descriptor, "unreadable"
                    elif not stat.S_ISDIR(mode):
                        yield shown, descriptor, ""
                    elif len(parts) >= caps.depth:
                        yield shown, descriptor, "depth"
                    else:
                        waiting.append((*parts, name))
            finally:
                os.close(descriptor)
    finally:
        os.close(root)


def _open_below(root: int, parts: tuple[str, ...]) -> int:
    """Open a folder by its names from `root` down, no link followed; only the one is held, however many there are."""
    descriptor = os.open(".", _FOLDER, dir_fd=root)
    for part in parts:
        above = descriptor
        try:
            descriptor = os.open(part, _FOLDER, dir_fd=above)
        except OSError:
            return -1
        finally:
            os.close(above)
    return descriptor


def _mode(name: str, parent: int) -> int:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _names(descriptor: int, most: int) -> list[str]:
    names = []
    with contextlib.suppress(OSError), os.scandir(descriptor) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) >= most:
                break
    return sorted(names)


def _read(name: str, parent: int, caps: Caps, taken: int, total: int) -> tuple[bytes, str]:
    """Open without following, look at what was opened (not at what its name said before), and read it."""
    base = name.rpartition("/")[2]
    mode = _mode(base, parent)
    if stat.S_ISLNK(mode):
        return b"", "link"
    if not stat.S_ISREG(mode):
        return b"", "special"
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(base, flags, dir_fd=parent)
    except OSError:
        return b"", "unreadable"
    try:
        why = _refuse(base, os.fstat(descriptor), caps, taken, total)
        if why:
            return b"", why
        content = _all(descriptor, caps.file_bytes + 1)
    except OSError:
        return b"", "unreadable"
    finally:
        os.close(descriptor)
    if len(content) > caps.file_bytes:
        return b"", "size"
    if base.lower().endswith(".png") and not content.startswith(b"\x89PNG\r\n\x1a\n"):
        return b"", "not_png"
    return content, ""


def _refuse(base: str, seen: os.stat_result, caps: Caps, taken: int, total: int) -> str:
    if not stat.S_ISREG(seen.st_mode):
        return "special"
    if seen.st_nlink != 1:
        return "linked_twice"
    if os.path.splitext(base)[1].lower() not in _MEDIA:
        return "kind"
    if seen.st_size > caps.file_bytes or seen.st_blocks * 512 > caps.file_bytes + _SPARSE:
        return "size"
    if taken >= caps.files:
        return "count"
    if total + seen.st_size > caps.total_bytes:
        return "total"
    return ""


def _all(descriptor: int, most: int) -> bytes:
    parts = []
    while most > 0:
        part = os.read(descriptor, min(most, 1 << 20))
        if not part:
            break
        parts.append(part)
        most -= len(part)
    return b"".join(parts)
