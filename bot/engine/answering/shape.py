"""Short texts compared by their letters: the cosine of n-grams of three to five, so that endings matter little.

Law: built once and never changed. N-grams that stand in most texts tell nothing and are left out of the search.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bot.engine.answering.lexical import rarity

_SIZES = (3, 4, 5)
_COMMON = 0.25
"""Share of the texts beyond which an n-gram is left out."""


class Shapes:
    """Texts as n-grams, each of one owner; an owner is as near as the nearest of its texts."""

    def __init__(self, texts: Sequence[tuple[int, Sequence[str]]]) -> None:
        self._owners = [owner for owner, _ in texts]
        vectors = [_grams(tokens) for _, tokens in texts]
        self._rarity = rarity([frozenset(vector) for vector in vectors])
        held = Counter(gram for vector in vectors for gram in vector)
        common = {gram for gram, count in held.items() if count > max(2, _COMMON * len(texts))}
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, vector in enumerate(vectors):
            length = self._length(vector)
            for gram, count in vector.items():
                if gram not in common:
                    postings[gram].append((number, count * self._rarity[gram] / length))
        self._postings = {gram: tuple(each) for gram, each in postings.items()}

    def scores(self, tokens: Sequence[str]) -> Mapping[int, float]:
        """Give each owner of a text that shares an n-gram with the tokens, with the best cosine, 0 to 1."""
        vector = _grams(tokens)
        length = self._length(vector)
        products: dict[int, float] = defaultdict(float)
        for gram, count in vector.items():
            weight = count * self._rarity.get(gram, 0.0) / length
            for number, own in self._postings.get(gram, ()):
                products[number] += weight * own
        best: dict[int, float] = defaultdict(float)
        for number, product in products.items():
            owner = self._owners[number]
            best[owner] = max(best[owner], product)
        return best

    def _length(self, vector: Mapping[str, int]) -> float:
        """Give the length of a vector; an n-gram of no text weighs one."""
        return math.sqrt(sum((count * self._rarity.get(gram, 1.0)) ** 2 for gram, count in vector.items())) or 1.0


def _grams(tokens: Iterable[str]) -> Counter[str]:
    return Counter(gram for token in tokens for gram in _of_token(token))


@lru_cache(maxsize=8192)
def _of_token(token: str) -> tuple[str, ...]:
    padded = f" {token} "
    return tuple(padded[i : i + size] for size in _SIZES for i in range(len(padded) - size + 1))
