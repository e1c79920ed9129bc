"""What `grouping.py` keeps of members' answers, in memory: the part of the stand-in store that tests play on.

Law: it keeps the same promise: a member's first answer to a question stands.
"""

from collections import Counter

from bot.engine.groups.quiz import Found, KeepGroupAnswer, Points, Wanted
from bot.stores.attempting import TakenMeanwhileError


class GroupAnswers:
    """The answers of all groups."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], KeepGroupAnswer] = {}

    def keep(self, row: KeepGroupAnswer) -> None:
        """Keep an answer.

        Raises:
            TakenMeanwhileError: the member has answered already.
        """
        if (row.ask, row.by) in self.kept:
            raise TakenMeanwhileError
        self.kept[row.ask, row.by] = row

    def load(self, wanted: Wanted) -> Found:
        """Give what a turn looks at."""
        here = [row for row in self.kept.values() if row.ask == wanted.ask]
        mine = next((row.answer for row in here if row.by == wanted.by), "")
        by: dict[str, Points] = {}
        for row in (row for row in self.kept.values() if row.quiz == wanted.quiz and wanted.board):
            before = by.get(row.by, Points("", 0, 0))
            by[row.by] = Points(row.name or before.name, before.points + row.points, before.answers + 1)
        return Found(mine, Counter(row.answer for row in here), tuple(by.values()))
