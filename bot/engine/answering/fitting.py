"""The bands' weights from questions whose answers are known: a logistic regression, by Newton's steps.

Law: the same questions give the same weights; a ridge keeps them small where the questions are few. A question counts
as answered rightly when its topic is one of those that its writer named.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.engine.answering import bands
from bot.engine.answering.answerer import Answerer
from content.schema import Bands

_RIDGE = 0.001
"""Pull of the weights to zero, beside the mean loss of a question."""
_STEPS = 40
_FLOOR = 1e-9


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a file: its topics are empty when the lessons do not answer it."""

    text: str
    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sample:
    """The evidence for a question's best section, whether that is right, and whether the lessons answer it at all."""

    evidence: Mapping[str, float]
    right: bool
    inside: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the probability that a fit without it gave to its best section."""

    likely: float
    right: bool
    inside: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """What was fitted."""

    weights: Mapping[str, float]
    bias: float


def samples(answerer: Answerer, questions: Sequence[Asked]) -> list[Sample]:
    """Give a sample for each question for which anything is found."""
    found: list[Sample] = []
    for question in questions:
        terms, hits = answerer.search(question.text)
        if hits:
            right = hits[0].section.topic.value in question.topics
            found.append(Sample(bands.evidence(terms, hits), right, bool(question.topics)))
    return found


def judged(samples: Sequence[Sample], folds: int) -> list[Judged]:
    """Judge every sample by a fit to the others' folds.

    Raises:
        ValueError: as `fitted`.
    """
    found: list[Judged] = []
    for fold in range(folds):
        fit = fitted([sample for number, sample in enumerate(samples) if number % folds != fold])
        own = Bands(weights=fit.weights, bias=fit.bias)
        found += [
            Judged(bands.probability(own, sample.evidence), sample.right, sample.inside)
            for sample in samples[fold::folds]
        ]
    return found


def fitted(samples: Sequence[Sample]) -> Fit:
    """Fit the weights to samples.

    Raises:
        ValueError: when there is no right or no wrong one among them.
    """
    if len({sample.right for sample in samples}) < 2:  # noqa: PLR2004 - right and wrong
        message = "the bands need questions that are answered rightly and others that are not"
        raise ValueError(message)
    names = sorted({name for sample in samples for name in sample.evidence})
    rows = [[1.0, *(sample.evidence[name] for name in names)] for sample in samples]
    answers = [float(sample.right) for sample in samples]
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
