"""What `joining.py` keeps of codes, in memory: the part of the stand-in store that conversations in tests play on.

Law: a stand-in store has one learner, so that a code leads to nobody else, and nothing is ever joined here.
"""

from bot.engine.linking.rows import FORGIVEN, DropLink, FoundLink, JoinLearners, Linking, MissLink, OfferLink, Row


class Links:
    """The code that the learner was given last, and the wrong ones that were written."""

    def __init__(self) -> None:
        self._given: dict[str, FoundLink] = {}
        self._missed = Linking(platforms=("shell",))

    def load(self, code: str) -> Linking:
        """Give what a turn on a code looks at."""
        missed, since = self._missed.missed, self._missed.since
        return Linking(platforms=self._missed.platforms, missed=missed, since=since, found=self._given.get(code))

    def keep(self, chat: str, row: Row) -> None:
        """Keep a row of a turn.

        Raises:
            ValueError: for a joining, which needs a second learner.
        """
        match row:
            case OfferLink(code, at):
                self._given = {code: FoundLink(chat, "shell", at, mine=True)}
            case DropLink():
                self._given = {}
            case MissLink(at):
                since = self._missed.since
                goes_on = since is not None and at - since < FORGIVEN
                count, begun = (self._missed.missed + 1, since) if goes_on else (1, at)
                self._missed = Linking(platforms=("shell",), missed=count, since=begun)
            case JoinLearners():
                message = "a stand-in store has one learner"
                raise ValueError(message)
