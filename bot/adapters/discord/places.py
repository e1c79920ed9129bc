"""Where a learner talks on Discord, written as an address: a private chat, a channel or thread, or an answer for one.

Law: an address is ASCII of at most 64 characters and says by itself how many read along. `p` stands before a private
chat, `g` before a channel or thread of a server, `e` before a channel in which only the learner sees the answer.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Who:
    """A learner in a place: `external` names the chat of ours, `account` the person, `address` where answers go."""

    external: str
    account: str
    address: str


def private(channel: int, person: int) -> Who:
    """Give the learner of a private chat."""
    return Who(str(person), str(person), f"p{channel}")


def public(channel: int, person: int) -> Who:
    """Give a learner who is answered before everybody, in a channel or a thread."""
    return Who(f"{channel}/{person}", str(person), f"g{channel}")


def unseen(channel: int, person: int) -> Who:
    """Give a learner who is answered in a channel so that only the learner sees it."""
    return Who(f"{channel}/{person}", str(person), f"e{channel}/{person}")


def root(address: str) -> str:
    """Give what a flood limit is counted for: the channel."""
    return address[1:].partition("/")[0]


def is_group(address: str) -> bool:
    """Tell whether others may read along."""
    return not address.startswith("p")


def channel_of(address: str) -> int:
    """Give the id of the channel that an address names."""
    return int(root(address))
