"""Files that are kept for a learner, and how long things are kept."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeepFile:
    """Store a file for its chat, in the place of an earlier one with the same name; `data` holds its bytes."""

    id: str
    name: str
    media: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Keeping:
    """Days that code, outputs and files of learners are kept, and backups at most (0: there are none)."""

    days: int = 30
    backups: int = 30
