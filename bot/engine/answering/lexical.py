"""Documents compared by their terms: BM25, as Robertson and Zaragoza give it (2009, formula 3.15), from postings.

Law: built once and never changed. A score is the share of what the question could have got, 0 to 1, so that scores of
long and short questions compare.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from bot.engine.answering.terms import Terms

_K1, _B = 1.2, 0.6


class Lexical:
    """Documents as weighted counts of terms, searchable."""

    def __init__(self, documents: Sequence[Mapping[str, float]]) -> None:
        self._idf = rarity([frozenset(counts) for counts in documents])
        self._rarest = max(self._idf.values(), default=1.0)
        self._documents = [frozenset(counts) for counts in documents]
        self._postings = _postings(documents, self._idf)

    def scores(self, terms: Terms) -> Mapping[int, float]:
        """Give each document that shares a term with the question, with its score."""
        found: dict[int, float] = defaultdict(float)
        for token in set(terms.tokens):
            for number, weight in self._postings.get(token, ()):
                found[number] += weight
        most = self._weight(terms) * (_K1 + 1)
        for number in found:
            found[number] /= most
        return found

    def covered(self, terms: Terms, number: int) -> float:
        """Give the share of the question's weight that stands in a document."""
        held = sum(self._idf[token] for token in set(terms.tokens) & self._documents[number])
        return held / self._weight(terms)

    def _weight(self, terms: Terms) -> float:
        """Give the rarity of all that was asked; a word of no document weighs as the rarest."""
        known = sum(self._idf.get(token, self._rarest) for token in set(terms.tokens))
        return known + self._rarest * len(set(terms.unknown)) or 1.0


def rarity(documents: Sequence[frozenset[str]]) -> dict[str, float]:
    """Give the inverse document frequency of each term, always above zero."""
    held = Counter(term for document in documents for term in document)
    return {term: math.log(1 + (len(documents) - count + 0.5) / (count + 0.5)) for term, count in held.items()}


def _postings(
    documents: Sequence[Mapping[str, float]], idf: Mapping[str, float]
) -> dict[str, tuple[tuple[int, float], ...]]:
    lengths = [sum(counts.values()) for counts in documents]
    mean = sum(lengths) / (len(lengths) or 1) or 1.0
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for number, (counts, length) in enumerate(zip(documents, lengths, strict=True)):
        damped = _K1 * (1 - _B + _B * length / mean)
        for term, count in counts.items():
            found[term].append((number, idf[term] * count * (_K1 + 1) / (count + damped)))
    return {term: tuple(each) for term, each in found.items()}
