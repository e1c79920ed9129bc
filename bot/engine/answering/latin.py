"""Arabic typed in Latin letters and figures (`leh el loop bate2a`) -> Arabic words, by a short list of the course.

Law: only a text without one Arabic letter is read so, and a word of the lessons is left as it is. Vowels and doubled
letters are not compared.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from bot.engine.letters import fold

_VOWELS = re.compile(r"[aeiouy]+|(?<=.)h$")
_DOUBLED = re.compile(r"(.)\1+")
_SHORTEST = 3


class Latin:
    """The list, ready to be looked up."""

    def __init__(self, listed: Mapping[str, Sequence[str]]) -> None:
        self._exact: dict[str, str] = {}
        self._bones: dict[str, str] = {}
        for arabic, spellings in listed.items():
            for spelled in spellings:
                self._exact.setdefault(spelled, fold(arabic))
                bones = skeleton(spelled)
                if len(bones) >= _SHORTEST:
                    self._bones.setdefault(bones, fold(arabic))

    def decoded(self, words: Sequence[str], known: Collection[str]) -> list[str]:
        """Give the words in Arabic letters where the list has them and the lessons have not."""
        return [self._of(word, known) for word in words]

    def _of(self, word: str, known: Collection[str]) -> str:
        found = self._exact.get(word)
        if found is not None or word in known:
            return found or word
        bones = skeleton(word)
        return self._bones.get(bones, word) if len(bones) >= _SHORTEST and any(map(str.isdigit, word)) else word


def skeleton(word: str) -> str:
    """Give the consonants of a word, none twice in a row."""
    return _DOUBLED.sub(r"\1", _VOWELS.sub("", word))
