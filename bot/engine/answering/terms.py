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
    """What a text is about: `tokens` in order, `unknown` words of no lesson.

    `named` are the tokens that an alias gave, `own` those of them that no other subject has.
    """

    tokens: tuple[str, ...]
    named: frozenset[str]
    own: frozenset[str]
    unknown: tuple[str, ...]


class Reader:
    """Reads texts as terms; it learns the lessons' words by `learn`, before the first question."""

    def __init__(self, course: Course) -> None:
        self._aliases = Aliases(course.aliases)
        self._latin = Latin(course.speech.latin)
        self._stop = frozenset(word for line in course.speech.stop_words for word in fold(line).split())
        self._everyday = frozenset(word for line in course.speech.everyday for word in fold(line).split())
        self._together = [
            (frozenset(parts.split()), token) for token, listed in course.speech.together.items() for parts in listed
        ]
        self._vocabulary: frozenset[str] = frozenset()
        self._typos = Typos({})
        self._known: frozenset[str] = frozenset()

    def learn(self, terms: Iterable[str]) -> None:
        """Take the terms of the lessons as known, and as what a misspelt word may be."""
        counted = Counter(terms)
        self._vocabulary = frozenset(counted)
        aliases = {word: 1 + counted[self._aliases.of_word(word) or ""] for word in self._aliases.words}
        self._typos = Typos({**counted, **aliases})
        self._known = self._vocabulary | self._aliases.words
        self._latin.learn((word, self._aliases.of_word(word) or word) for word in sorted(self._aliases.words))

    def of_course(self, text: str) -> list[str]:
        """Give the terms of a passage of the lessons, whole."""
        return [term for line in text.splitlines() for term, _ in self._terms(words(line)) if term]

    def of_asked(self, text: str) -> list[str]:
        """Give the terms of a short text of the lessons that reads like a question."""
        terms = self.of_course(text)
        return [*terms, *self._meant(terms)]

    def read(self, text: str) -> Terms:
        """Give the terms of a question."""
        found = words(text)
        if ARABIC.search(text) is None:
            found = self._latin.decoded(found, self._known)
        tokens: list[str] = []
        named: list[str] = []
        unknown: list[str] = []
        own: list[str] = []
        for term, spelled in self._terms(found, stems=False):
            token, by_name = (term, True) if spelled else self._of_word(term)
            if token:
                tokens.append(token)
                named += [token] if by_name else []
                own += [token] if by_name and self._everyday.isdisjoint((token, *bare(spelled or term))) else []
            elif not _garbled(term):
                unknown.append(term)
        more = self._meant(tokens)
        lessons_own = frozenset({*own, *(token for token in more if token not in self._everyday)})
        return Terms((*tokens, *more), frozenset({*named, *more}), lessons_own, tuple(unknown))

    def _meant(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Give the tokens that stand in no word of a question, but in several of them together."""
        present = set(tokens)
        return tuple(token for parts, token in self._together if parts <= present and token not in present)

    def _terms(self, found: list[str], *, stems: bool = True) -> Iterator[tuple[str, str]]:
        """Give each term, and the spelling for which an alias gave it, if one did; stop words are left out.

        Other words are given as they are, or as stems.
        """
        index = 0
        while index < len(found):
            alias = self._aliases.at(found, index)
            if alias:
                yield alias[0], " ".join(found[index : index + alias[1]])
                index += alias[1]
                continue
            word = found[index]
            index += 1
            if self._stop.isdisjoint(bare(word)) and len(word) > 1:
                yield stem(word) if stems else word, ""

    def _of_word(self, word: str) -> tuple[str, bool]:
        """Give the term of a word that is no alias as it stands, and whether it is one when repaired."""
        term = stem(word)
        if term in self._vocabulary:
            return term, False
        named = self._aliases.exactly(term)
        if named and not word.isascii():
            return named, True
        for reading in (*bare(word), term):
            near = self._typos.repaired(reading)
            if near is not None:
                token = self._aliases.of_word(near)
                return (token, True) if token else (near, False)
        return "", False


def _garbled(word: str) -> bool:
    """Tell whether a word is Arabic in Latin letters that the list lacks: figures stand inside it."""
    return word.isascii() and not word.isdigit() and any(map(str.isdigit, word)) and any(map(str.isalpha, word))
