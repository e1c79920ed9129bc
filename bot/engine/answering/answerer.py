"""A course's answerer: from a text to the sections that answer it, and how sure that is.

Law: built once for a course and kept with it; asking changes nothing, and nothing of a question is kept.
"""

from dataclasses import dataclass

from bot.engine.answering import bands
from bot.engine.answering.bands import Band
from bot.engine.answering.index import Hit, Index
from bot.engine.answering.manners import Manners
from bot.engine.answering.ofruns import RunTalk
from bot.engine.answering.terms import Reader, Terms
from content.schema import Course

MOST = 3
"""Sections that are named."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: `hits` are the best section of each of the best topics, `MOST` of them.

    Where fewer topics share anything with the text, others follow with a score of zero, in the order of the course.
    """

    band: Band
    likely: float
    hits: tuple[Hit, ...]
    terms: Terms


class Answerer:
    """Finds sections for questions."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.manners = Manners(course.speech)
        self.run_talk = RunTalk(course.speech)
        self._reader = Reader(course)
        self._index = Index(course, self._reader)

    def ask(self, text: str) -> Found:
        """Find what answers a text."""
        terms, hits = self.search(text)
        likely = bands.probability(self.course.bands, bands.evidence(terms, hits))
        band = bands.band(self.course.bands, likely, general=bands.is_general(terms, hits))
        return Found(band, likely, self._filled(hits), terms)

    def _filled(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        best = {hit.section.topic: hit for hit in hits}
        for lesson in self.course.lessons if len(best) < MOST else ():
            for section in lesson.sections:
                best.setdefault(section.topic, Hit(lesson, section, 0.0, 0.0, 0.0, 0.0))
        return tuple(best.values())[:MOST]

    def search(self, text: str) -> tuple[Terms, tuple[Hit, ...]]:
        """Give what a text is about and the best section of each of the best topics."""
        terms = self._reader.read(text)
        best: dict[str, Hit] = {}
        for hit in self._index.search(terms):
            best.setdefault(hit.section.topic, hit)
            if len(best) == MOST:
                break
        return terms, tuple(best.values())


_kept: list[Answerer] = []
_MOST_KEPT = 2
"""Courses in service at once: the one before a reload may still answer a turn."""


def of(course: Course) -> Answerer:
    """Give the answerer of a course, built at the first call."""
    found = next((each for each in _kept if each.course is course), None)
    if found is None:
        found = Answerer(course)
        _kept.insert(0, found)
        del _kept[_MOST_KEPT:]
    return found
