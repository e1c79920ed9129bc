"""A misspelt word -> the lessons' word that it nearly is: one letter more, less, other, or two exchanged.

Law: a short word is never repaired, and neither is one that could be either of two equally common words. The index is
made of deletions, so that looking up costs the length of the word and not of the list (SymSpell's idea).
"""

from collections.abc import Iterable, Mapping

_SHORTEST = 5
"""Letters of a word that is repaired; shorter ones are too near to too many others."""
_VOWELS = "اوي"


class Typos:
    """The words that a misspelt one may be, each with how common it is."""

    def __init__(self, words: Mapping[str, int]) -> None:
        self._words = dict(words)
        self._by_deletion: dict[str, list[str]] = {}
        for word in self._words:
            if len(word) >= _SHORTEST - 1:
                for shorter in {word, *_deletions(word)}:
                    self._by_deletion.setdefault(shorter, []).append(word)

    def repaired(self, word: str) -> str | None:
        """Give the commonest word at a distance of one, or None."""
        if len(word) < _SHORTEST - 1 or word.isdigit():
            return None
        near = {
            found
            for shorter in {word, *_deletions(word)}
            for found in self._by_deletion.get(shorter, ())
            if (_one_apart(word, found) if len(word) >= _SHORTEST else _lacks_vowel(word, found))
        }
        return max(sorted(near), key=lambda found: (found[0] == word[0], self._words[found]), default=None)


def _lacks_vowel(word: str, found: str) -> bool:
    """Tell whether a short word is another one without one of its long vowels: what is left out most."""
    return len(found) == len(word) + 1 and any(
        found[i] in _VOWELS and found[:i] + found[i + 1 :] == word for i in range(1, len(found) - 1)
    )


def _deletions(word: str) -> Iterable[str]:
    return (word[:i] + word[i + 1 :] for i in range(len(word)))


def _one_apart(first: str, second: str) -> bool:
    """Tell whether two words that share a deletion are one step apart (optimal string alignment)."""
    if abs(len(first) - len(second)) > 1:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    rest, other = first[start:], second[start:]
    if len(first) != len(second):
        return rest[1:] == other or rest == other[1:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
