"""Learners' words for the lessons' terms -> the one canonical token; the longest form that fits is taken.

Law: a form is data of the course (`aliases.yaml`); here is only how it is looked up. A canonical token means itself.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product

from bot.engine.answering.stem import bare

MOST_WORDS = 3
_MANY = ("ات", "ز")
_BEFORE = "وفبلك"
_GLUED = re.compile(r"(.*[^\d ])(16|32|64)")


class Aliases:
    """The table, ready to be looked up."""

    def __init__(self, aliases: Mapping[str, Sequence[str]]) -> None:
        self._table: dict[tuple[str, ...], str] = {}
        for token, forms in aliases.items():
            for form in (token, *forms):
                for spelled in _spellings(form):
                    self._table.setdefault(tuple(spelled.split()), token)
        self._longer = {words[0] for words in self._table if len(words) > 1}
        self.tokens = frozenset(aliases)
        self.words = frozenset(words[0] for words in self._table if len(words) == 1)

    def of_word(self, word: str) -> str | None:
        """Give the token of one word, as it stands or without what is written before it."""
        return next((self._table[(each,)] for each in readings(word) if (each,) in self._table), None)

    def exactly(self, word: str) -> str | None:
        """Give the token of one word as it stands."""
        return self._table.get((word,))

    def at(self, words: Sequence[str], index: int) -> tuple[str, int] | None:
        """Give the token of the longest form that begins at a word, and how many words it takes."""
        if not self._longer.isdisjoint(first_readings(words[index])):
            for size in range(min(MOST_WORDS, len(words) - index), 1, -1):
                found = self._of(words[index : index + size])
                if found:
                    return found, size
        found = self.of_word(words[index])
        return (found, 1) if found else None

    def _of(self, words: Sequence[str]) -> str | None:
        first, *rest = words
        found = product(first_readings(first), *map(readings, rest))
        return next((self._table[each] for each in found if each in self._table), None)


@lru_cache(maxsize=8192)
def readings(word: str) -> tuple[str, ...]:
    """Give a word without what is written onto it, then as one of many (`باكات`, `كيرنلز`)."""
    plain = bare(word)
    single = (each[: -len(end)] for each in plain for end in _MANY if each.endswith(end) and len(each) - len(end) > 2)  # noqa: PLR2004 - letters of a word
    return tuple(dict.fromkeys((*plain, *single)))


@lru_cache(maxsize=8192)
def first_readings(word: str) -> tuple[str, ...]:
    """Give the readings of a phrase's first word, where even a short one may have a letter before it (`لنص دقة`)."""
    short = (word[1:],) if len(word) == 3 and word[0] in _BEFORE else ()  # noqa: PLR2004 - too short for `bare`
    return (*readings(word), *short)


def _spellings(form: str) -> Iterator[str]:
    """Give a form, and with a space where a number of bits is glued to it."""
    yield form
    glued = _GLUED.fullmatch(form)
    if glued and len(form.split()) < MOST_WORDS:
        yield f"{glued[1]} {glued[2]}"
