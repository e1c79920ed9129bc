"""What is wrong with a course: faults with their places, gathered before they are raised together."""

from collections.abc import Iterable
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""The way to a value inside a file: keys and positions, from the top."""

LONGEST_KEY = 60
"""Characters of a key that a path shows."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One mistake: the file (relative to the course's folder), its line (from 1), the path, and both sentences."""

    file: str
    line: int
    path: str
    wrong: str
    right: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " + (f"{self.path}: " if self.path else "")
        return f"{where}{self.wrong}; {self.right}"


class CourseError(Exception):
    """The course cannot be served; `faults` holds every mistake of every file, in order of file and line."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults)))
        count = len(self.faults)
        head = f"{count} fault{'' if count == 1 else 's'} in the course"
        super().__init__("\n".join([head, *map(str, self.faults)]))


def spelled(path: Path) -> str:
    """Write a path as a teacher reads it: `sections[1].blocks[0].text` (positions count from 0)."""
    text = ""
    for step in path:
        word = step if isinstance(step, int) or len(step) <= LONGEST_KEY else step[:LONGEST_KEY] + "…"
        text += f"[{word}]" if isinstance(step, int) else f".{word}" if text else str(word)
    return text
