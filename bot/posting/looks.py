"""What drawing a reply needs beside it: a few words of the course, and its pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bot.engine.wording import Wording
from content.schema import Course


class OverLimitError(Exception):
    """A drawn call is over one of a platform's limits; the text says which and by how much."""


@dataclass(frozen=True, slots=True)
class Look:
    """Words by their keys, and pictures by theirs."""

    words: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, bytes] = field(default_factory=dict)


class ByHash:
    """A course that compares by its hash, so that the cache below need not compare whole courses."""

    def __init__(self, course: Course) -> None:
        self.course = course

    def __hash__(self) -> int:
        return hash(self.course.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByHash) and other.course.hash == self.course.hash


def look(course: Course, keys: frozenset[str]) -> Look:
    """Give what drawing needs of a course: the words with these keys."""
    return _look(ByHash(course), keys)


@lru_cache(maxsize=8)
def _look(kept: ByHash, keys: frozenset[str]) -> Look:
    words = Wording(kept.course.phrases)
    return Look({key: words.text(key) for key in keys if words.has(key)}, kept.course.pictures)


def hold(text: str, *sizes: tuple[str, int, int]) -> None:
    """Hold the sizes of a call against their limits, each as (what, size, limit).

    Raises:
        OverLimitError: for the first that is over.
    """
    for what, size, limit in sizes:
        if size > limit:
            message = f"{size} {what}, {limit} is the limit: {text[:60]!r}"
            raise OverLimitError(message)
