"""The lessons' sections as an index: by their terms, by the letters of what is asked of them, and by their topic.

Law: built once from the course and never changed; a search keeps nothing of a question.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.engine.answering.lexical import Lexical
from bot.engine.answering.shape import Shapes
from bot.engine.answering.terms import Reader, Terms
from content import schema
from content.schema import Course, Lesson, Section

_WEIGHTS = {"topic": 4.0, "title": 3.0, "question": 2.0, "text": 1.0, "card": 0.5, "lesson": 0.5}
"""How often a word of each field counts."""
_ASKED = ("topic", "title", "question")
"""The fields that read like a question; letters are compared with these."""
LEXICAL, SHAPE, SUBJECT = 0.3, 0.3, 0.4
"""Parts of a section's scores in its whole score."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A section with its scores, each 0 to 1.

    `lexical` is of the terms, `shape` of the letters, `subject` of the terms in all sections of its topic; `score` is
    their weighted sum, and `covered` the share of the question that the section holds.
    """

    lesson: Lesson
    section: Section
    lexical: float
    shape: float
    subject: float
    covered: float

    @property
    def score(self) -> float:
        """Give the whole score."""
        return LEXICAL * self.lexical + SHAPE * self.shape + SUBJECT * self.subject


class Index:
    """The sections of a course, searchable."""

    def __init__(self, course: Course, reader: Reader) -> None:
        self._places = [(lesson, section) for lesson in course.lessons for section in lesson.sections]
        read = _Reading(reader).all_of(self._places)
        reader.learn(term for each in read for _, terms in each for term in terms)
        counted = [_counted(each) for each in read]
        self._topics = sorted({section.topic for _, section in self._places})
        self._topic_of = [self._topics.index(section.topic) for _, section in self._places]
        self._sections = Lexical(counted)
        self._subjects = Lexical(self._by_topic(counted))
        self._shapes = Shapes(
            [(number, tokens) for number, each in enumerate(read) for field, tokens in each if field in _ASKED]
        )

    def search(self, terms: Terms) -> list[Hit]:
        """Give every section that shares a term or letters with the question, best first."""
        lexical, shape = self._sections.scores(terms), self._shapes.scores((*terms.tokens, *terms.unknown))
        subjects = self._subjects.scores(terms)
        hits = [
            Hit(
                *self._places[number],
                lexical.get(number, 0.0),
                shape.get(number, 0.0),
                subjects.get(self._topic_of[number], 0.0),
                self._sections.covered(terms, number),
            )
            for number in {*lexical, *shape}
        ]
        return sorted(hits, key=lambda hit: -hit.score)

    def _by_topic(self, counted: list[Mapping[str, float]]) -> list[Mapping[str, float]]:
        """Add up the counts of each topic's sections, as the mean of them, so that many sections count no more."""
        sums: list[dict[str, float]] = [defaultdict(float) for _ in self._topics]
        for topic, counts in zip(self._topic_of, counted, strict=True):
            share = 1 / self._topic_of.count(topic)
            for term, count in counts.items():
                sums[topic][term] += count * share
        return [*sums]


class _Reading:
    """Reads each text once, however many sections share it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: dict[str, list[str]] = {}

    def all_of(self, places: Iterable[tuple[Lesson, Section]]) -> list[list[tuple[str, list[str]]]]:
        """Give the terms of every field of every section."""
        return [[(field, self._of(field, text)) for field, text in fields(*place)] for place in places]

    def _of(self, field: str, text: str) -> list[str]:
        if field in _ASKED:
            return self._reader.of_asked(text)
        if text not in self._read:
            self._read[text] = self._reader.of_course(text)
        return self._read[text]


def fields(lesson: Lesson, section: Section) -> Iterable[tuple[str, str]]:
    """Give the texts from which a section is found, each with its field."""
    yield "topic", section.topic.value
    yield "title", section.title
    yield "lesson", lesson.title
    for question in section.questions:
        yield "question", question
    for block in section.blocks:
        match block:
            case schema.TextBlock():
                yield "text", block.text
            case schema.PictureBlock():
                yield "text", block.caption or ""
            case _:
                pass
    for card in lesson.cards:
        if card.topic is section.topic:
            yield "card", f"{card.front}\n{card.back}"


def _counted(read: Iterable[tuple[str, list[str]]]) -> Mapping[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for field, terms in read:
        for term in terms:
            counts[term] += _WEIGHTS[field]
    return counts
