"""The app and the store, as far as a chat platform's adapter needs them."""

from typing import Protocol

from bot.ports import Owned
from bot.posting.boxes import Replies
from bot.posting.ports import Inbox, Outbox, Paces
from bot.posting.rerun import Talk
from content.schema import Course


class Kept(Outbox, Inbox, Paces, Protocol):
    """What is kept of ways in and out."""


class Hosted(Talk, Replies, Protocol):
    """The app."""

    @property
    def course(self) -> Course:
        """Give the course as it is served now."""
        ...


class Keeper(Replies, Protocol):
    """The store."""

    def outbox(self) -> Kept:
        """Give what is kept of ways in and out."""
        ...

    def owned(self) -> Owned:
        """Give the part that keeps learners' files."""
        ...
