"""Whether a question is about the learner's last run, and what it asks of it.

Law: words alone decide, and all of them are the course's (`speech.yaml`, `of_run`); a question that names a term of the
lessons is about the lessons, unless a variant of the run bears that name or its words belong to runs alone.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.engine.answering.normalise import words
from bot.engine.answering.stem import bare
from bot.engine.answering.terms import Terms
from bot.engine.letters import fold
from content.schema import Speech

_MOST_WORDS = 3
_OF_BOTH = frozenset({"firstcall", "noise", "timing"})
"""Terms of the lessons in which runs are spoken of too."""
_BARE = 3
"""Words of a question that asks which is faster, or why something is slow, and says no more: «شو أسرع؟»."""
_FEW = 5
"""Words of a question that asks for a result's meaning and says little else."""


class Aspect(StrEnum):
    """What is asked of a run."""

    SLOW = "slow"
    FAST = "fast"
    SAME = "same"
    UNCLEAR = "unclear"
    UNSURE = "unsure"
    NOISE = "noise"
    INTERVAL = "interval"
    FIRST = "first"
    ERROR = "error"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class OfRun:
    """A question about a run; `plainly` when nothing but a run can be meant, `bare` when no word says of what it is."""

    aspect: Aspect
    plainly: bool
    bare: bool = False


class RunTalk:
    """The course's words of runs, ready to be looked up."""

    def __init__(self, speech: Speech) -> None:
        self._names: dict[str, str] = {fold(form): name for name, forms in speech.of_run.items() for form in forms}

    def read(self, text: str, terms: Terms, variants: Collection[str] = ()) -> OfRun | None:
        """Tell what a question asks of a run; None when it is no such question. `variants` are the run's names."""
        said = words(text)
        found = frozenset(self._found(said))
        aspect = _aspect(found, frozenset(terms.tokens))
        points = bool(found & {"outcome", "mine", "last"} or {"this", "result"} <= found)
        if aspect is None:
            asks_meaning = {"explain", "result"} <= found and (points or len(said) <= _FEW)
            return OfRun(Aspect.WHOLE, plainly=points) if asks_meaning and not _of_lessons(terms, variants) else None
        if aspect in {Aspect.UNCLEAR, Aspect.UNSURE}:
            about = points or bool(found & {"result", "explain"})
            if _of_lessons(terms, variants) or not (about or ("this" in found and len(said) <= _BARE)):
                return None
            return OfRun(aspect, plainly=about, bare=not about)
        near = "result" in found and aspect in {Aspect.SLOW, Aspect.FAST, Aspect.SAME, Aspect.ERROR}
        alone = aspect in {Aspect.SLOW, Aspect.FAST} and len(said) <= _BARE and len(terms.tokens) == 1
        if not points and not near and not alone and not (aspect is Aspect.ERROR and len(said) <= _FEW):
            return None
        unsaid = alone and not points and not near
        return None if _of_lessons(terms, variants) else OfRun(aspect, plainly=points, bare=unsaid)

    def _found(self, said: Sequence[str]) -> Iterator[str]:
        for start in range(len(said)):
            for reading in bare(said[start]):
                name = self._names.get(reading)
                if name:
                    yield name
            for size in range(2, _MOST_WORDS + 1):
                name = self._names.get(" ".join(said[start : start + size]))
                if name:
                    yield name
            if said[start].startswith("هال") and said[start][3:] in self._names:
                yield from ("this", self._names[said[start][3:]])


def _aspect(found: frozenset[str], tokens: frozenset[str]) -> Aspect | None:
    """Choose by the rarest words first."""
    listed = (
        (Aspect.UNCLEAR, "unclear" in found or {"not", "clear"} <= found),
        (Aspect.UNSURE, "sure" in found),
        (Aspect.ERROR, "error" in found),
        (Aspect.INTERVAL, "interval" in found),
        (Aspect.FIRST, "firstcall" in tokens),
        (Aspect.SAME, "same" in found),
        (Aspect.NOISE, "noise" in tokens),
        (Aspect.SLOW, "slow" in tokens),
        (Aspect.FAST, "fast" in tokens),
    )
    return next((aspect for aspect, said in listed if said), None)


def _of_lessons(terms: Terms, variants: Collection[str]) -> bool:
    """Tell whether a question names a term of the lessons that is no variant of the run."""
    named = {word for name in variants for word in words(name)}
    return bool(terms.own - _OF_BOTH - named)
