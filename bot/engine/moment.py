"""What one turn looks at; every part of the engine takes a moment and ends it with a turn."""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.engine.effects import Effect, Turn
from bot.engine.known import Dice, Known
from bot.engine.session import Session
from bot.engine.wording import Wording
from content.schema import Course, Lesson


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything that a turn may look at."""

    session: Session
    known: Known
    course: Course
    words: Wording
    now: datetime
    dice: Dice

    def at(self, session: Session) -> "Moment":
        """Give the same moment with another session."""
        return replace(self, session=session)

    def changed(self, **changes: object) -> "Moment":
        """Give the same moment with some of the session's fields changed."""
        return replace(self, session=self.session.with_(**changes))

    def knowing(self, **changes: object) -> "Moment":
        """Give the same moment with something of what is known changed."""
        return replace(self, known=replace(self.known, **changes))  # type: ignore[arg-type]

    def turn(self, *effects: Effect) -> Turn:
        """End the turn here."""
        return Turn(self.session, effects)

    def lesson(self, slug: str) -> Lesson | None:
        """Give a lesson by its slug."""
        return next((lesson for lesson in self.course.lessons if lesson.slug == slug), None)

    def here(self) -> Lesson | None:
        """Give the lesson that the learner is in, else the course's first; None in an empty course."""
        place = self.session.place
        found = self.lesson(place.lesson) if place else None
        return found or next(iter(self.course.lessons), None)

    def text_of(self, lesson: Lesson, file: str) -> str:
        """Give a text file of a lesson; empty when the course does not hold it."""
        return self.course.files.get(f"{lesson.slug}/{file}", "")
