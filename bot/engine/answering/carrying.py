"""A short text that carries on, by the words it is made of: «طيب ليش كذا؟», «عطيني شي مثال», «بسطلي ياها».

Law: every word of it must be known here; one that is not makes it a text about something, which another reading takes.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from bot.engine.answering.stem import bare
from bot.engine.letters import fold
from content.schema import Speech

Followup = Literal["why", "example", "more", "simple", "run"]

_MOST = 6
"""Words of a text that carries on."""
_ONTO = 6
"""Letters that may be written onto a root."""
_SHORTEST = 3
_BEFORE = "انتيم"
"""Letters that may stand before a root, as a person's or an imperative's."""
_SUREST: tuple[Followup, ...] = ("run", "example", "simple", "why", "more")
"""Kinds by how much they say: who asks to explain by an example wants the example."""


class Carries:
    """The course's words, ready to be looked up."""

    def __init__(self, speech: Speech) -> None:
        self._words: dict[str, set[str]] = {}
        self._roots: list[tuple[str, str]] = []
        for kind, listed in speech.carries.items():
            for form in listed:
                folded = fold(form)
                if form.endswith("*"):
                    self._roots.append((folded, kind))
                else:
                    self._words.setdefault(folded, set()).add(kind)

    def read(self, said: Sequence[str]) -> Followup | None:
        """Tell how a text carries on; None when it is about something."""
        if not 1 <= len(said) <= _MOST:
            return None
        kinds = [frozenset(self._kinds(word)) for word in said]
        if not all(kinds):
            return None
        found = frozenset().union(*kinds)
        surest = next((kind for kind in _SUREST if kind in found), None)
        if surest == "run" and "not" in found - {kind for each in kinds if "filler" in each for kind in each}:
            return None  # «do not run it»
        return surest or ("more" if {"not", "grasp"} <= found else None)

    def _kinds(self, word: str) -> Iterable[str]:
        for reading in bare(word):
            yield from self._words.get(reading, ())
        plain = word[1:] if len(word) > _SHORTEST and word[0] in _BEFORE else word
        for root, kind in self._roots:
            if any(each.startswith(root) and len(each) <= len(root) + _ONTO for each in (word, plain)):
                yield kind
