"""`ask`: one question, one JSON document, as the chat would answer it; and `refit`: the bands, from files of questions.

Law: nobody's session is touched. What a file of questions holds is checked before anything is written, and the bands
are written whole or not at all.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from bot.adapters.shell.render import plain
from bot.engine.answering import answerer, bands, fitting
from bot.engine.answering.bands import Band
from bot.engine.effects import Say
from bot.engine.events import TextSent
from bot.engine.known import Dice, Known
from bot.engine.session import Session
from bot.engine.turn import take_turn
from bot.errors import BotError
from content.schema import Bands, Course

FOLDS = 5
"""Parts of the questions: each is judged by bands that were fitted without it."""
_TRIED = tuple(n / 100 for n in range(50, 91, 5))
"""Probabilities from which to answer, of which the least that keeps the promises is taken."""
_RIGHT = 0.95
"""Share of the answered questions that must be answered rightly."""


class QuestionsError(BotError):
    """A file of questions cannot be used."""


def warmed(course: Course) -> None:
    """Build what answers, so that the first question costs no more than the others."""
    answerer.of(course).ask("")


def asked(course: Course, text: str, now: datetime, dice: Dice) -> Mapping[str, Any]:
    """Ask one question: the band, the hits, the answer as plain text, and what it took in milliseconds."""
    found = answerer.of(course).ask(text)
    start = time.perf_counter()
    turn = take_turn(Session("ask"), TextSent(text), Known(), course, now, dice)
    took = time.perf_counter() - start
    return {
        "question": text[:200],
        "band": found.band.value,
        "likely": round(found.likely, 3),
        "hits": [
            {
                "lesson": hit.lesson.slug,
                "section": hit.section.id,
                "topic": hit.section.topic.value,
                "score": round(hit.score, 4),
            }
            for hit in found.hits
        ],
        "text": "\n\n".join(plain(effect.reply) for effect in turn.effects if isinstance(effect, Say)),
        "took_ms": round(took * 1e3, 3),
    }


def read(path: Path) -> list[fitting.Asked]:
    """Read a file of questions: a JSON object a line, with `text`, `in_scope`, `topic` and `also`.

    Raises:
        QuestionsError: naming the line that is none.
    """
    questions: list[fitting.Asked] = []
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not UTF-8"
        raise QuestionsError(message) from None
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
            topics = frozenset((row["topic"], *row.get("also", ()))) if row["in_scope"] else frozenset()
            questions.append(fitting.Asked(str(row["text"]), topics))
        except (ValueError, KeyError, TypeError) as error:
            message = f"{path}:{number}: this is no question ({error!r}); write text, in_scope, topic and also"
            raise QuestionsError(message) from None
    return questions


def refitted(course: Course, files: Sequence[Path], today: datetime) -> tuple[Bands, Mapping[str, Any]]:
    """Fit the bands to the questions of files, and say how they do on questions that they were not fitted to.

    Raises:
        QuestionsError: when the questions are too few or of one kind.
    """
    read_files = [(path, read(path)) for path in files]
    questions = [question for _, listed in read_files for question in listed]
    samples = fitting.samples(answerer.of(course), questions)
    try:
        whole = fitting.fitted(samples)
        judged = fitting.judged(samples, FOLDS)
    except ValueError as error:
        raise QuestionsError(str(error)) from None
    threshold = next((each for each in _TRIED if _keeps(judged, each)), _TRIED[-1])
    written = Bands.model_validate(
        {
            "fitted": today.date().isoformat(),
            "data": tuple(
                {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "questions": len(listed)}
                for path, listed in read_files
            ),
            "weights": {name: round(weight, 4) for name, weight in whole.weights.items()},
            "bias": round(whole.bias, 4),
            "answer": threshold,
        }
    )
    return written, _told(written, judged, len(questions))


def write(path: Path, fitted: Bands) -> None:
    """Write the bands in the place of those before."""
    head = "# Written by `python -m bot refit FILE…` from the questions named here; not by hand.\n"
    text = head + yaml.safe_dump(fitted.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    beside = path.with_suffix(".new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


def _keeps(judged: Iterable[fitting.Judged], threshold: float) -> bool:
    """Tell whether no outside question is answered from here on, and enough of the answers are right."""
    answered = [each for each in judged if each.likely >= threshold]
    right = sum(each.right for each in answered)
    return all(each.inside for each in answered) and right >= _RIGHT * len(answered)


def _told(fitted: Bands, judged: Sequence[fitting.Judged], questions: int) -> Mapping[str, Any]:
    def counts(*, inside: bool) -> Mapping[str, int]:
        of = [bands.band(fitted, each.likely) for each in judged if each.inside is inside]
        return {each.value: of.count(each) for each in Band}

    answered = [each for each in judged if bands.band(fitted, each.likely) is Band.ANSWER]
    return {
        "questions": questions,
        "without_any_hit": questions - len(judged),
        "folds": FOLDS,
        "answer_from": fitted.answer,
        "offer_from": fitted.offer,
        "answered": len(answered),
        "answered_rightly": sum(each.right for each in answered),
        "in_scope": counts(inside=True),
        "outside": counts(inside=False),
    }
