"""A text -> its terms: canonical tokens, stems of the lessons' words, and the words that the lessons do not know.

Law: the lessons' passages and learners' questions go through the same steps, so that what is equal meets; only
questions are repaired.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.engine.answering.aliases import Aliases
from bot.engine.answering.latin import Latin
from bot.engine.answering.normalise import words
from bot.engine.answering.stem import bare, stem
from bot.engine.answering.typos import Typos
from bot.engine.letters import ARABIC, fold
from content.schema import Course


@dataclass(frozen=True, slots=True)
class Terms:
    """What a text is about: `tokens` in order, `named` those that an alias gave, `unknown` words of no lesson."""

    tokens: tuple[str, ...]
    named: frozenset[str]
    unknown: tuple[str, ...]


class Reader:
    """Reads texts as terms; it learns the lessons' words by `learn`, before the first question."""

    def __init__(self, course: Course) -> None:
        self._aliases = Aliases(course.aliases)
        self._latin = Latin(course.speech.latin)
        self._stop = frozenset(word for line in course.speech.stop_words for word in fold(line).split())
        self._vocabulary: frozenset[str] = frozenset()
        self._typos = Typos({})
        self._known: frozenset[str] = frozenset()

    def learn(self, texts: Iterable[str]) -> None:
        """Take the words of the lessons as known, and as what a misspelt word may be."""
        counted: Counter[str] = Counter()
        for text in texts:
            counted.update(term for term, _ in self._terms(words(text)) if term)
        self._vocabulary = frozenset(counted)
        aliases = {word: 1 + counted[self._aliases.of_word(word) or ""] for word in self._aliases.words}
        self._typos = Typos({**counted, **aliases})
        self._known = self._vocabulary | self._aliases.words

    def of_course(self, text: str) -> list[str]:
        """Give the terms of a passage of the lessons, whole."""
        return [term for line in text.splitlines() for term, _ in self._terms(words(line)) if term]

    def read(self, text: str) -> Terms:
        """Give the terms of a question."""
        found = words(text)
        if ARABIC.search(text) is None:
            found = self._latin.decoded(found, self._known)
        tokens: list[str] = []
        named: list[str] = []
        unknown: list[str] = []
        for term, by_alias in self._terms(found):
            token, by_name = (term, by_alias) if by_alias or term in self._vocabulary else self._repaired(term)
            if token:
                tokens.append(token)
                named += [token] if by_name else []
            else:
                unknown.append(term)
        return Terms(tuple(tokens), frozenset(named), tuple(unknown))

    def _terms(self, found: list[str]) -> Iterator[tuple[str, bool]]:
        """Give each term, and whether an alias gave it; stop words are left out."""
        index = 0
        while index < len(found):
            alias = self._aliases.at(found, index)
            if alias:
                yield alias[0], True
                index += alias[1]
                continue
            word = found[index]
            index += 1
            if self._stop.isdisjoint(bare(word)) and len(word) > 1:
                yield stem(word), False

    def _repaired(self, term: str) -> tuple[str, bool]:
        near = self._typos.repaired(term)
        if near is None:
            return "", False
        token = self._aliases.of_word(near)
        return (token, True) if token else (near, False)
