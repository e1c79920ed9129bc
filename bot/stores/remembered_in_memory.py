"""What `remembering.py` keeps, in memory: the part of the stand-in store that conversations in tests are played on.

Law: it keeps the same promises, through the same functions of `bot.engine.remembering`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from bot.engine import days
from bot.engine.remembering import mastery, memory, rows, streaks
from bot.engine.remembering.kept import CAP, CardRow, Remembered
from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.memory import Memory
from bot.engine.remembering.streaks import Streak


@dataclass(slots=True)
class Review:
    """A grade as it is stored."""

    card: str
    grade: memory.Grade
    before: Memory | None
    was_due: bool
    at: datetime
    undone: bool = False


@dataclass(slots=True)
class Own:
    """What is kept of one learner."""

    cards: dict[str, CardRow] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    topics: dict[str, Topic] = field(default_factory=dict)
    streak: Streak = field(default_factory=Streak)
    visits: set[str] = field(default_factory=set)
    complaints: list[rows.Complain] = field(default_factory=list)
    misconceptions: Counter[str] = field(default_factory=Counter)
    cap: int = CAP
    zone: str = "UTC"


class Memories:
    """What every learner remembers, and how hard items are."""

    def __init__(self) -> None:
        self.own: dict[str, Own] = {}
        self.difficulties: dict[str, tuple[int, Difficulty]] = {}

    def of(self, learner: str) -> Own:
        """Give what is kept of a learner."""
        return self.own.setdefault(learner, Own())

    def load(self, learner: str) -> Remembered:
        """Load everything kept of a learner."""
        own = self.of(learner)
        late = (each.at for each in own.reviews.values() if each.was_due and not each.undone)
        return Remembered(
            cards=tuple(sorted(own.cards.values(), key=lambda row: (row.suspended, row.due))),
            topics=dict(own.topics),
            difficulties={item: kept for item, (_, kept) in self.difficulties.items()},
            misconceptions=dict(own.misconceptions),
            streak=own.streak,
            reviews=tuple(sorted(late, reverse=True)),
            zone=own.zone,
            cap=own.cap,
        )

    def learn(self, learner: str, what: rows.Learned) -> None:
        """Keep what the answer that closed an ask says."""
        own = self.of(learner)
        day = days.day_of(what.at, own.zone)
        match what:
            case rows.Answered(topic, item, rev, first):
                known_rev, hard = self.difficulties.get(item, (rev, Difficulty()))
                hard = hard if known_rev == rev else Difficulty()
                own.topics[topic], hard = mastery.answered(own.topics.get(topic, Topic()), hard, first=first, day=day)
                self.difficulties[item] = (rev, hard)
            case rows.Reviewed(review, card, rev, grade, at):
                row = own.cards.get(card)
                before = row.memory if row else None
                after = memory.graded(before, grade, rev, at)
                was_due = row is not None and (row.due <= at or row.rev < rev)
                own.cards[card] = CardRow(card, rev, after, after.due, row.suspended if row else False)
                own.reviews[review] = Review(card, grade, before, was_due, at)
            case _:
                assert_never(what)
        own.streak = streaks.practised(own.streak, day)

    def keep(self, learner: str, row: rows.Row) -> None:
        """Keep another row of a turn; the ask of an undone review is reopened by who keeps asks."""
        own = self.of(learner)
        match row:
            case rows.UndoReview(review):
                self._undo(own, review)
            case rows.SuspendCard(card, rev, suspended, at):
                kept = own.cards.get(card, CardRow(card, rev, None, at, suspended=False))
                own.cards[card] = replace(kept, suspended=suspended)
            case rows.MoveCard(card, heir, rev):
                old = own.cards.pop(card, None)
                if old is not None and heir not in own.cards:
                    carried = replace(old.memory, rev=rev) if old.memory else None
                    own.cards[heir] = replace(old, card=heir, rev=rev, memory=carried)
            case rows.SetCap(cap):
                own.cap = cap
            case rows.Complain(_, item, rev, text):
                if all((each.item, each.rev, each.text) != (item, rev, text) for each in own.complaints):
                    own.complaints.append(row)
            case rows.Visited(stop):
                own.visits.add(stop)
            case _:
                assert_never(row)

    def misconceived(self, learner: str, shown: Iterable[str]) -> None:
        """Count the misconceptions that an answer showed."""
        self.of(learner).misconceptions.update(each for each in shown if each)

    @staticmethod
    def _undo(own: Own, review: str) -> None:
        undone = own.reviews.get(review)
        if undone is None or undone.undone:
            return
        if any(each.card == undone.card and each.at > undone.at and not each.undone for each in own.reviews.values()):
            return
        undone.undone = True
        row = own.cards[undone.card]
        before = undone.before
        if before is None:
            own.cards[undone.card] = replace(row, memory=None, due=undone.at)
        else:
            own.cards[undone.card] = replace(row, memory=before, due=before.due, rev=before.rev)
