"""What `attempting.py` keeps, in memory: the part of the stand-in store that conversations in tests are played on.

Law: it keeps the same promises: the first vote stands, the first row of a run stands, a likeness is one learner's.
"""

from collections import Counter
from datetime import datetime

from bot.engine.purposes import Why, purpose_of
from bot.engine.tries import (
    GAVE_UP,
    Attempt,
    CastVote,
    DropName,
    Found,
    KeepAttempt,
    Kept,
    Ranked,
    Row,
    Standing,
    TakeName,
    Wanted,
)
from bot.stores.attempting import PLACES, RECENT, TakenMeanwhileError


class Tries:
    """Attempts, votes and names of every learner."""

    def __init__(self) -> None:
        self.attempts: dict[str, tuple[str, Kept]] = {}
        self.votes: dict[tuple[str, str], tuple[int, str]] = {}
        self.names: dict[str, TakeName] = {}

    def record(self, learner: str, row: Row, now: datetime) -> None:
        """Write one row of a turn."""
        match row:
            case KeepAttempt(attempt):
                self.attempts.setdefault(attempt.run, (learner, Kept(attempt, now)))
            case CastVote(myth, rev, vote):
                before = self.votes.get((learner, myth))
                if before is None or before[0] < rev:
                    self.votes[learner, myth] = (rev, vote)
            case TakeName(_, likeness):
                if any(who != learner and each.likeness == likeness for who, each in self.names.items()):
                    raise TakenMeanwhileError
                self.names[learner] = row
            case DropName():
                self.names.pop(learner, None)

    def load(self, learner: str, wanted: Wanted, ask_item: str, run_slot: str) -> Found:
        """Read what a turn wants."""
        purpose = purpose_of(run_slot)
        counted = (purpose.item if purpose.why is Why.MYTH else ask_item) if wanted.votes else ""
        mine = [kept for who, kept in self.attempts.values() if who == learner]
        own = self.names.get(learner)
        return Found(
            standings=_standings(mine) if wanted.attempts else {},
            recent=tuple(reversed(mine))[:RECENT] if wanted.attempts else (),
            board=self._board(learner, wanted.board) if wanted.board else (),
            name=own.name if own and wanted.name else "",
            taken=any(who != learner and each.likeness == wanted.taken for who, each in self.names.items()),
            voted={myth: kept for (who, myth), kept in self.votes.items() if who == learner} if wanted.votes else {},
            counted=counted,
            counts=Counter(kept for (_, myth), kept in self.votes.items() if myth == counted),
        )

    def _board(self, learner: str, exercise: str) -> tuple[Ranked, ...]:
        tried = [(who, kept.attempt) for who, kept in self.attempts.values() if kept.attempt.exercise == exercise]
        newest = max((attempt.rev for _, attempt in tried), default=0)
        best: dict[tuple[str, str], Attempt] = {}
        for who, attempt in tried:
            at = (attempt.machine, who)
            if attempt.board and attempt.rev == newest and who in self.names:
                best[at] = max(best.get(at, attempt), attempt, key=lambda each: each.ratio)
        shown: list[Ranked] = []
        for machine in sorted({machine for machine, _ in best}):
            here = sorted(((a, who) for (m, who), a in best.items() if m == machine), key=lambda pair: -pair[0].ratio)
            shown += [
                Ranked(machine, rank, self.names[who].name, a.ratio, a.low, a.high, who == learner)
                for rank, (a, who) in enumerate(here, 1)
                if rank <= PLACES or who == learner
            ]
        return tuple(shown)


def _standings(kept: list[Kept]) -> dict[tuple[str, int], Standing]:
    found: dict[tuple[str, int], Standing] = {}
    for attempt in (each.attempt for each in kept):
        before = found.get((attempt.exercise, attempt.rev), Standing())
        gave_up = attempt.outcome == GAVE_UP
        found[attempt.exercise, attempt.rev] = Standing(
            before.failures + (not attempt.passed and not gave_up),
            before.passed or attempt.passed,
            before.gave_up or gave_up,
        )
    return found
