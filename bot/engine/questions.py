"""A learner's question as a row to be kept, so that its author sees what the lessons lack; written with the turn.

Law: a row holds what was asked and what became of it, and no more of the learner than the store knows anyway.
"""

from dataclasses import dataclass

MOST_TEXT = 500
"""Characters of a question that are kept."""
MOST_WORDS, MOST_LETTERS = 20, 40
"""Unmatched words that are kept, and characters of each."""
OF_RUN, OF_TERM, OF_CODE, WITHHELD = "run", "term", "code", "withheld"
"""Bands of questions that were about the learner's own run, a term's meaning, code in them, or an open question."""


@dataclass(frozen=True, slots=True)
class KeepQuestion:
    """Store a question: `band` as it was judged, `offered` the stops shown, `unmatched` the words of no lesson."""

    id: str
    text: str
    band: str
    offered: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChooseOffered:
    """Store which of the offered stops was opened; the first choice stands."""

    question: str
    chosen: str


Row = KeepQuestion | ChooseOffered


@dataclass(frozen=True, slots=True)
class Offered:
    """The last question of a session and the keys of the stops that it was answered or offered with."""

    question: str
    stops: tuple[str, ...]
