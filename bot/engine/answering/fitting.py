"""The bands' weights from questions whose answers are known: a logistic regression, by Newton's steps.

Law: the same questions give the same weights; a ridge keeps them small where the questions are few. A question counts
as answered rightly when its topic is one of those that its writer named.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.engine.answering import bands
from bot.engine.answering.answerer import Answerer

_RIDGE = 0.02
"""Pull of the weights to zero, beside the mean loss of a question."""
_STEPS = 40
_FLOOR = 1e-9


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a file: its topics are empty when the lessons do not answer it."""

    text: str
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fit:
    """What was fitted."""

    weights: Mapping[str, float]
    bias: float


def samples(answerer: Answerer, questions: Sequence[Asked]) -> list[tuple[Mapping[str, float], bool]]:
    """Give the evidence for each question's best section, and whether that was right; nothing found is left out."""
    found: list[tuple[Mapping[str, float], bool]] = []
    for question in questions:
        terms, hits = answerer.search(question.text)
        if hits:
            found.append((bands.evidence(terms, hits), hits[0].section.topic.value in question.topics))
    return found


def fitted(samples: Sequence[tuple[Mapping[str, float], bool]]) -> Fit:
    """Fit the weights to samples.

    Raises:
        ValueError: when there is no right or no wrong one among them.
    """
    if len({right for _, right in samples}) < 2:  # noqa: PLR2004 - right and wrong
        message = "the bands need questions that are answered rightly and others that are not"
        raise ValueError(message)
    names = sorted({name for evidence, _ in samples for name in evidence})
    rows = [[1.0, *(evidence[name] for name in names)] for evidence, _ in samples]
    answers = [float(right) for _, right in samples]
    weights = [0.0] * (len(names) + 1)
    for _ in range(_STEPS):
        slope, curve = _derivatives(rows, answers, weights)
        step = _solved(curve, slope)
        weights = [weight - part for weight, part in zip(weights, step, strict=True)]
        if max(map(abs, step)) < _FLOOR:
            break
    return Fit(dict(zip(names, weights[1:], strict=True)), weights[0])


def _derivatives(
    rows: Sequence[Sequence[float]], answers: Sequence[float], weights: Sequence[float]
) -> tuple[list[float], list[list[float]]]:
    size = len(weights)
    slope = [0.0 if i == 0 else _RIDGE * weights[i] for i in range(size)]
    curve = [[_RIDGE * (i == j) if i else _FLOOR * (i == j) for j in range(size)] for i in range(size)]
    for row, answer in zip(rows, answers, strict=True):
        total = sum(weight * value for weight, value in zip(weights, row, strict=True))
        likely = 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))
        for i in range(size):
            slope[i] += (likely - answer) * row[i] / len(rows)
            for j in range(size):
                curve[i][j] += likely * (1 - likely) * row[i] * row[j] / len(rows)
    return slope, curve


def _solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Solve a small symmetric system by elimination with pivots."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda line: abs(rows[line][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for line in range(size):
            if line != column:
                factor = rows[line][column] / rows[column][column]
                rows[line] = [a - factor * b for a, b in zip(rows[line], rows[column], strict=True)]
    return [rows[line][size] / rows[line][line] for line in range(size)]
