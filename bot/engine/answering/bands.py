"""How sure an answer is: the evidence for the best section -> a probability -> answer, offer, or refuse.

Law: the weights are the course's (`bands.yaml`), fitted by `refit` and never written here; evidence is 0 to 1, so that
a weight says how much it can matter.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from bot.engine.answering.index import Hit
from bot.engine.answering.terms import Terms
from content.schema import Bands

_MANY, _MANY_OWN = 3, 2
"""Terms of aliases, and of them the lessons' own, from which more make it no surer."""

_FEW = 2
"""Everyday terms below which a question without one of the lessons' own says little."""

_NEAR = 0.12
"""Score by which the best topic has to be ahead of the next to answer a general question."""


class Band(StrEnum):
    """What becomes of a question."""

    ANSWER = "answer"
    OFFER = "offer"
    REFUSE = "refuse"


def evidence(terms: Terms, hits: Sequence[Hit]) -> Mapping[str, float]:
    """Give what speaks for the best of `hits` (one a topic, best first), each 0 to 1."""
    if not hits:
        return {}
    best = hits[0]
    asked = len(set(terms.tokens)) + len(set(terms.unknown))
    return {
        "lexical": best.lexical,
        "shape": best.shape,
        "subject": best.subject,
        "covered": best.covered,
        "named": min(len(terms.named), _MANY) / _MANY,
        "own": min(len(terms.own), _MANY_OWN) / _MANY_OWN,
        "thin": float(not terms.own and len(terms.named) < _FEW),
        "unknown": len(set(terms.unknown)) / asked if asked else 1.0,
        "ahead": best.score - hits[1].score if len(hits) > 1 else best.score,
    }


def probability(bands: Bands, found: Mapping[str, float]) -> float:
    """Give how likely the best section is right; 0 without any evidence."""
    if not found:
        return 0.0
    total = bands.bias + sum(weight * found.get(name, 0.0) for name, weight in bands.weights.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


def is_general(terms: Terms, hits: Sequence[Hit]) -> bool:
    """Tell whether a question is two everyday terms, such as speed and model, to which several topics are as near."""
    several = len(hits) > 1 and hits[0].score - hits[1].score < _NEAR
    return several and not terms.own and len(set(terms.tokens)) <= _FEW


def band(bands: Bands, likely: float, *, general: bool = False) -> Band:
    """Give what becomes of a question with this probability; to a general one topics are offered at most."""
    if likely >= bands.answer and not general:
        return Band.ANSWER
    return Band.OFFER if likely >= bands.offer else Band.REFUSE
