"""Files of the course's folder, read only when they are regular, small enough and truly inside it."""

import stat
from pathlib import Path


class UnreadableError(Exception):
    """A file cannot be used: what is wrong, and what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(f"{wrong}; {right}")
        self.wrong = wrong
        self.right = right


def read_inside(folder: Path, name: str, limit: int) -> bytes:
    """Return the bytes of `name` in `folder`, at most `limit` of them.

    Raises UnreadableError for what is missing, no regular file, outside of the folder (also through a link), too
    large or not permitted.
    """
    path = folder / name
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(folder.resolve(strict=True)):
            wrong = f"{name} leads out of its folder"
            raise UnreadableError(wrong, "put a copy of the file itself into the folder")
        found = real.stat()
        if stat.S_ISDIR(found.st_mode):
            wrong = f"{name} is a folder"
            raise UnreadableError(wrong, "put a file there")
        if not stat.S_ISREG(found.st_mode):
            wrong = f"{name} is no regular file"
            raise UnreadableError(wrong, "put a file there")
        if found.st_size > limit:
            wrong = f"{name} has {found.st_size} bytes"
            raise UnreadableError(wrong, f"at most {limit} are allowed")
        return real.read_bytes()
    except FileNotFoundError:
        wrong = f"there is no file {name}"
        raise UnreadableError(wrong, "create it, or correct the name") from None
    except NotADirectoryError:
        wrong = f"a part of {name} is a file, not a folder"
        raise UnreadableError(wrong, "correct the name") from None
    except PermissionError:
        wrong = f"{name} may not be read"
        raise UnreadableError(wrong, "give the reading right (chmod a+r)") from None
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, a name too long, a broken disk
        reason = getattr(error, "strerror", None) or "its links run in a circle"
        wrong = f"{name} cannot be read ({reason})"
        raise UnreadableError(wrong, "put a readable file there") from None


def refuse_link(folder: Path) -> None:
    """Raise UnreadableError when a folder is a link that leads out of the folder around it."""
    if not folder.resolve().is_relative_to(folder.parent.resolve()):
        wrong = f"the folder {folder.parent.name}/{folder.name} is a link to another place"
        raise UnreadableError(wrong, "put the folder itself there")


def text_of(raw: bytes, name: str) -> str:
    """Return a text file's text with Unix line ends; raises UnreadableError for other encodings."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        wrong = f"{name} is not UTF-8 (line {line})"
        raise UnreadableError(wrong, "save it with the encoding UTF-8") from None
    return text.replace("\r\n", "\n")


def files_under(folder: Path) -> list[str]:
    """Return the names of all files under a folder, relative, sorted, without caches and hidden ones."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir())
    return sorted(
        name.as_posix()
        for name in names
        if not any(part.startswith(".") or part == "__pycache__" for part in name.parts)
    )
