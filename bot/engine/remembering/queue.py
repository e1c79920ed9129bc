"""Which cards are to be reviewed now, from what is remembered and the course as it is today.

Law: a card whose `rev` rose is due again, a retired one is followed to its heir, one held back never comes; after a
break no more than the daily cap is named or shown.
"""

from collections.abc import Container
from dataclasses import dataclass, replace
from datetime import datetime

from bot.engine.days import day_of, start_of
from bot.engine.remembering.kept import CardRow, Remembered
from bot.engine.remembering.rows import MoveCard
from content.schema import Card, Course, Lesson


@dataclass(frozen=True, slots=True)
class Queue:
    """`due` are ids, the oldest first; `left` says how many more of them the day's cap takes; `held` are held back.

    `moves` carry retired cards over to their heirs; `next_due` is when the next card will be due, if any waits.
    """

    due: tuple[str, ...]
    left: int
    held: tuple[str, ...] = ()
    moves: tuple[MoveCard, ...] = ()
    next_due: datetime | None = None

    @property
    def today(self) -> tuple[str, ...]:
        """Give what is shown today."""
        return self.due[: self.left]


def queue(course: Course, kept: Remembered, now: datetime) -> Queue:
    """Give the queue of this moment."""
    rows, moves = followed(course, kept)
    begin = start_of(day_of(now, kept.zone), kept.zone)
    done = sum(begin <= at <= now for at in kept.reviews)
    revs = {card.id: card.rev for _, card in cards(course)}
    waiting = [(now if row.rev < revs[row.card] else row.due, row.card) for row in rows if not row.suspended]
    due = sorted(pair for pair in waiting if pair[0] <= now)
    return Queue(
        due=tuple(card for _, card in due),
        left=max(kept.cap - done, 0),
        held=tuple(row.card for row in rows if row.suspended),
        moves=moves,
        next_due=min((at for at, _ in waiting if at > now), default=None),
    )


def followed(course: Course, kept: Remembered) -> tuple[tuple[CardRow, ...], tuple[MoveCard, ...]]:
    """Give the rows under the ids that the course has today, and the moves that make them so."""
    known = {card.id: card.rev for _, card in cards(course)}
    own = {row.card for row in kept.cards}
    rows, moves = [row for row in kept.cards if row.card in known], []
    for row in kept.cards:
        heir = _heir(course, row.card, known) if row.card not in known else ""
        if not heir:
            continue
        rev = known[heir]
        moves.append(MoveCard(row.card, heir, rev))
        if heir not in own:
            own.add(heir)
            carried = replace(row.memory, rev=rev) if row.memory else None
            rows.append(CardRow(heir, rev, carried, row.due, row.suspended))
    return tuple(rows), tuple(moves)


def cards(course: Course) -> tuple[tuple[Lesson, Card], ...]:
    """Give every card of the course with its lesson."""
    return tuple((lesson, card) for lesson in course.lessons for card in lesson.cards)


def _heir(course: Course, gone: str, known: Container[str]) -> str:
    """Follow a retired id, step by step; empty when nothing took its place."""
    retired = {each.id: each.to or "" for each in course.retired}
    passed: set[str] = set()
    while gone not in known:
        if gone in passed or not retired.get(gone):
            return ""
        passed.add(gone)
        gone = retired[gone]
    return gone
