"""«ما معنى …؟» answered from the course's glossary: the term, one sentence, and the way to its section.

Law: it answers only a text that names one term and nothing else, asking for its meaning or by its name alone; every
other question is left to the sections. While a question of a check is open, a meaning that could give its answer away
is withheld.
"""

from collections.abc import Iterable, Iterator

from bot.engine import presses, reading
from bot.engine.answering import answerer, replying
from bot.engine.answering.aliases import Aliases
from bot.engine.answering.bands import Band
from bot.engine.answering.latin import Latin
from bot.engine.answering.normalise import words
from bot.engine.bubbles import buttons, said
from bot.engine.course_map import Part, go
from bot.engine.effects import Turn
from bot.engine.letters import ARABIC, fold
from bot.engine.moment import Moment
from bot.engine.replies import Choice, Code, Heading, Paragraph, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Course, Lesson, Section, Term

_MARK = "§"
"""What begins a term's key among the aliases; no word of a learner has it."""


class Glossary:
    """A course's terms, ready to be asked for."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self._terms = {f"{_MARK}{index}": term for index, term in enumerate(course.glossary)}
        names = {key: tuple(dict.fromkeys(_names(term))) for key, term in self._terms.items()}
        own = {name for forms in names.values() for name in forms}
        self._table = Aliases(
            {
                key: (*forms, *(each for each in _spellings(course, forms) if each not in own))
                for key, forms in names.items()
            }
        )
        self._latin = Latin(course.speech.latin)
        self._known = frozenset(word for name in own for word in name.split())
        self._own = {" ".join(name): key for key, forms in names.items() for name in map(words, forms)}
        lines = sorted((tuple(words(line)) for line in course.speech.defining), key=len, reverse=True)
        self._asking = tuple(line for line in lines if line)

    def asked_for(self, text: str) -> Term | None:
        """Give the term whose meaning a text asks for; None when it asks something else."""
        found = words(text)
        if ARABIC.search(text) is None:
            found = self._latin.decoded(found, self._known)
        subject = self._subject(found)
        if not subject or len(subject) == len(found):
            return None
        named = self._table.at(subject, 0)
        return self._terms.get(named[0]) if named and named[1] == len(subject) else None

    def named(self, text: str) -> Term | None:
        """Give the term of which a text is a name of its own, and nothing else."""
        spelled = " ".join(words(text))
        return self._terms.get(self._own.get(spelled, self._own.get(spelled.removeprefix("ال"), "")))

    def _subject(self, found: list[str]) -> list[str]:
        """Take what asks off both ends, as long as something is taken."""
        while True:
            for line in self._asking:
                size = len(line)
                if size >= len(found):
                    continue
                if tuple(found[:size]) == line:
                    found = found[size:]
                    break
                if tuple(found[-size:]) == line:
                    found = found[:-size]
                    break
            else:
                return found


def _names(term: Term) -> Iterator[str]:
    for name in (term.term, term.english, *term.names):
        spelled = " ".join(words(name))
        yield spelled
        yield " ".join(word.removeprefix("ال") if len(word) > 4 else word for word in spelled.split())  # noqa: PLR2004 - «الأس» keeps two letters


def _spellings(course: Course, names: Iterable[str]) -> Iterator[str]:
    """Give the learners' spellings of a name, by the course's aliases."""
    wanted = set(names)
    for token, forms in course.aliases.items():
        spelled = [fold(form) for form in (token, *forms)]
        if fold(token) in wanted or any(name in wanted and name.isascii() for name in spelled):
            yield from spelled


_kept: list[Glossary] = []
_MOST_KEPT = 2
"""Courses in service at once: the one before a reload may still answer a turn."""


def of(course: Course) -> Glossary:
    """Give the glossary of a course, built at the first call."""
    found = next((each for each in _kept if each.course is course), None)
    if found is None:
        found = Glossary(course)
        _kept.insert(0, found)
        del _kept[_MOST_KEPT:]
    return found


def defined(moment: Moment, text: str) -> Turn | None:
    """Say what a term means; None when the text asks for no term's meaning.

    A term alone asks for it where no section is its sure answer.
    """
    glossary = of(moment.course)
    term = glossary.asked_for(text)
    if term is None and (named := glossary.named(text)):
        term = named if answerer.of(moment.course).ask(text).band is not Band.ANSWER else None
    place = _place(moment, term) if term else None
    if term is None or place is None:
        return None
    lesson, section = place
    if replying.gives_away(moment, section):
        return replying.withheld(moment)
    at = Place(lesson.slug, Part.SECTION, section.id)
    phrases = moment.words
    examples = (presses.run_example(moment, lesson, example) for example in reading.examples_at(lesson, at)[:1])
    return moment.changed(told=at).turn(
        *said(
            Heading((*inline(term.term), Text(" "), Code(term.english))),
            Paragraph(inline(term.meaning)),
            Paragraph(phrases.say("answer.source", lesson=inline(lesson.title), section=inline(section.title))),
            *replying.still_open(moment),
            *buttons(*examples, Choice(phrases.text("button.open_section"), go(at)), presses.go_on_with_series(moment)),
        )
    )


def _place(moment: Moment, term: Term) -> tuple[Lesson, Section] | None:
    lesson = moment.lesson(term.lesson)
    section = next((each for each in lesson.sections if each.id == term.section), None) if lesson else None
    return (lesson, section) if lesson and section else None
