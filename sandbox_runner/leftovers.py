"""The files that a job left, made safe to hand on: bare names, known kinds, pictures of bounded size, each once.

Law: a learner's file is never opened as what it claims to be; of a picture only its header is read.
"""

import base64
import hashlib
import re
import struct

from sandbox_runner.protocol import Note, OutFile
from sandbox_runner.sandbox.port import Found, Skipped

MOST_PIXELS = 25_000_000
_MEDIA = {"png": "image/png", "csv": "text/csv", "json": "application/json", "txt": "text/plain"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_DRAWN_BY_US = re.compile(r"figure_\d+(_\d+)?\.png")
_LONGEST_NAME = 80
_TOLD = 5
_IHDR = struct.Struct(">8sI4sII")


def hand_on(
    found: tuple[Found, ...], skipped: tuple[Skipped, ...], more: int
) -> tuple[tuple[OutFile, ...], tuple[Note, ...]]:
    """Give the files that come back, and a note that names those that do not."""
    files: dict[str, OutFile] = {}
    seen: set[bytes] = set()
    left_out = list(skipped)
    for file in sorted(found, key=lambda file: _DRAWN_BY_US.fullmatch(file.name) is not None):
        digest = hashlib.sha256(file.content).digest()
        kind = file.name.rpartition(".")[2].lower()
        if kind not in _MEDIA:
            left_out.append(Skipped(file.name, "kind"))
        elif kind == "png" and (why := _refuse_png(file.content)):
            left_out.append(Skipped(file.name, why))
        elif kind != "png" or digest not in seen:  # a figure saved by the learner and left open comes back once
            name = _free(_bare(file.name), files)
            data = base64.b64encode(file.content).decode("ascii")
            files[name] = OutFile(name, _MEDIA[kind], len(file.content), data)
        seen.add(digest)
    return tuple(files.values()), _notes(left_out, more)


def _notes(skipped: list[Skipped], more: int) -> tuple[Note, ...]:
    if not skipped:
        return ()
    values: dict[str, str | int | float] = {"count": len(skipped) + more}
    for number, one in enumerate(skipped[:_TOLD], 1):
        values[f"name_{number}"] = _bare(one.name)
        values[f"why_{number}"] = one.why[:_LONGEST_NAME]
    return (Note("files_skipped", values),)


def _refuse_png(content: bytes) -> str:
    if len(content) < _IHDR.size:
        return "not_png"
    signature, length, kind, width, height = _IHDR.unpack_from(content)
    if signature != b"\x89PNG\r\n\x1a\n" or kind != b"IHDR" or length != 13:  # noqa: PLR2004 - the PNG standard
        return "not_png"
    if not 0 < width * height <= MOST_PIXELS:
        return "pixels"
    return ""


def _bare(name: str) -> str:
    """A bare ASCII name without folders, leading dots or anything that a shell or a header could mind."""
    stem, dot, kind = name.rpartition(".")
    bare = _UNSAFE.sub("_", stem if dot else name).strip("._-") or "file"
    kind = _UNSAFE.sub("", kind) if dot else ""
    room = _LONGEST_NAME - len(kind[:8]) - 1
    return f"{bare[:room]}.{kind[:8]}" if kind else bare[:_LONGEST_NAME]


def _free(name: str, taken: dict[str, OutFile]) -> str:
    stem, _, kind = name.rpartition(".")
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{stem}-{number}.{kind}"
    return free
