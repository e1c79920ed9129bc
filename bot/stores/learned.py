"""The tables of what a learner knows, tried and wishes; the same metadata and laws as `tables.py`.

Law: every table that says something of a learner has a column `learner` whose deletion takes the row with it.
"""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
)

from bot.stores.tables import UtcTime, metadata


def _learner(*, key: bool = False) -> Column[str]:
    return Column("learner", String(12), ForeignKey("learners.id", ondelete="CASCADE"), primary_key=key, nullable=False)


cards = Table(
    "cards",
    metadata,
    _learner(key=True),
    Column("card", String(40), primary_key=True),
    Column("rev", Integer, nullable=False),
    Column("memory", Text, nullable=False),
    Column("due", UtcTime, nullable=False),
    Column("suspended", Boolean, nullable=False),
)
Index("ix_cards_learner_due", cards.c.learner, cards.c.suspended, cards.c.due)

reviews = Table(
    "reviews",
    metadata,
    Column("id", String(12), primary_key=True),
    _learner(),
    Column("card", String(40), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("rating", Integer, nullable=False),
    Column("memory_before", Text),
    Column("was_due", Boolean, nullable=False),
    Column("undone", Boolean, nullable=False),
    Column("reviewed_at", UtcTime, nullable=False),
    CheckConstraint("rating >= 1 AND rating <= 4", name="rating"),
)
Index("ix_reviews_learner_reviewed_at", reviews.c.learner, reviews.c.reviewed_at)

topics = Table(
    "topics",
    metadata,
    _learner(key=True),
    Column("topic", String(40), primary_key=True),
    Column("theta", Float, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("firsts", Integer, nullable=False),
    Column("days", Integer, nullable=False),
    Column("last_day", String(10), nullable=False),
    Column("changed_at", UtcTime, nullable=False),
)

difficulties = Table(
    "difficulties",
    metadata,
    Column("item", String(40), primary_key=True),
    Column("rev", Integer, nullable=False),
    Column("difficulty", Float, nullable=False),
    Column("answers", Integer, nullable=False),
)

streaks = Table(
    "streaks",
    metadata,
    _learner(key=True),
    Column("days", Integer, nullable=False),
    Column("last_day", String(10), nullable=False),
    Column("freezes", Integer, nullable=False),
    Column("week", String(8), nullable=False),
)

votes = Table(
    "votes",
    metadata,
    _learner(key=True),
    Column("myth", String(40), primary_key=True),
    Column("rev", Integer, nullable=False),
    Column("vote", String(16), nullable=False),
    Column("voted_at", UtcTime, nullable=False),
)
Index("ix_votes_myth", votes.c.myth, votes.c.vote)

attempts = Table(
    "attempts",
    metadata,
    Column("run", String(12), primary_key=True),
    _learner(),
    Column("exercise", String(40), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("ratio", Float),
    Column("ratio_low", Float),
    Column("ratio_high", Float),
    Column("share", Float),
    Column("confirmed", Boolean, nullable=False),
    Column("board", Boolean, nullable=False),
    Column("machine", String(80), nullable=False),
    Column("device", String(8), nullable=False),
    Column("outcome", String(40), nullable=False),
    Column("attempted_at", UtcTime, nullable=False),
)
Index("ix_attempts_learner_exercise", attempts.c.learner, attempts.c.exercise)
Index("ix_attempts_board", attempts.c.exercise, attempts.c.board, attempts.c.machine, attempts.c.ratio)

board_names = Table(
    "board_names",
    metadata,
    _learner(key=True),
    Column("name", String(40), nullable=False),
    Column("likeness", String(80), nullable=False, unique=True),
    Column("chosen_at", UtcTime, nullable=False),
)

wishes = Table(
    "wishes",
    metadata,
    _learner(key=True),
    Column("zone", String(64), nullable=False),
    Column("reminders", Boolean, nullable=False),
    Column("remind_minute", Integer, nullable=False),
    Column("quiet_from", Integer, nullable=False),
    Column("quiet_to", Integer, nullable=False),
    Column("daily_cap", Integer, nullable=False),
    Column("days_off", String(7), nullable=False),
    Column("next_at", UtcTime),
    Column("last_day", String(10), nullable=False),
    Column("unanswered", Integer, nullable=False),
    Column("leased_by", String(40), nullable=False),
    Column("leased_until", UtcTime),
)
Index("ix_wishes_next_at", wishes.c.next_at)

visits = Table(
    "visits",
    metadata,
    _learner(key=True),
    Column("stop", String(80), primary_key=True),
    Column("first_at", UtcTime, nullable=False),
)
Index("ix_visits_stop", visits.c.stop)

complaints = Table(
    "complaints",
    metadata,
    Column("id", String(12), primary_key=True),
    _learner(),
    Column("item", String(40), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("text", String(500), nullable=False),
    Column("settled", Boolean, nullable=False),
    Column("made_at", UtcTime, nullable=False),
)
Index("ix_complaints_learner", complaints.c.learner)

files = Table(
    "files",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(80), nullable=False),
    Column("media", String(80), nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("made_at", UtcTime, nullable=False),
)
Index("ix_files_chat", files.c.chat)

links = Table(
    "links",
    metadata,
    _learner(key=True),
    Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), nullable=False),
    Column("code", String(12), nullable=False, unique=True),
    Column("used", Boolean, nullable=False),
    Column("made_at", UtcTime, nullable=False),
)

guesses = Table(
    "guesses",
    metadata,
    _learner(key=True),
    Column("wrong", Integer, nullable=False),
    Column("since", UtcTime, nullable=False),
)

sweeps = Table(
    "sweeps",
    metadata,
    Column("name", String(24), primary_key=True),
    Column("done_to", UtcTime),
    Column("begun_at", UtcTime, nullable=False),
)

misses = Table(
    "misses",
    metadata,
    Column("ask", String(12), ForeignKey("asks.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    _learner(),
    Column("answer", Text, nullable=False),
    Column("misconception", String(40), nullable=False),
    Column("missed_at", UtcTime, nullable=False),
)
Index("ix_misses_learner", misses.c.learner)

questions = Table(
    "questions",
    metadata,
    Column("id", String(12), primary_key=True),
    _learner(),
    Column("text", String(500), nullable=False),
    Column("band", String(8), nullable=False),
    Column("offered", Text, nullable=False),
    Column("chosen", String(80), nullable=False),
    Column("unmatched", Text, nullable=False),
    Column("asked_at", UtcTime, nullable=False),
)
Index("ix_questions_learner", questions.c.learner)
Index("ix_questions_asked_at", questions.c.asked_at)

group_answers = Table(
    "group_answers",
    metadata,
    Column("ask", String(12), primary_key=True),
    Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    _learner(),
    Column("room", String(12), nullable=False),
    Column("quiz", String(12), nullable=False),
    Column("name", String(40), nullable=False),
    Column("answer", String(40), nullable=False),
    Column("points", Integer, nullable=False),
    Column("answered_at", UtcTime, nullable=False),
)
Index("ix_group_answers_quiz", group_answers.c.quiz)
Index("ix_group_answers_learner", group_answers.c.learner)
