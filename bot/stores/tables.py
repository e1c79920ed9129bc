"""The tables of the store, the same on every database.

Law: every constraint has a name (Alembic's batch mode drops the nameless in silence), times are UTC, and a missing JSON
value is SQL NULL, never JSON `null`.
"""

from datetime import UTC, datetime

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    exists,
)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMES)


class UtcTime(TypeDecorator[datetime]):
    """An aware time in UTC; SQLite would drop the zone and give eight hours back elsewhere."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC without a zone where the database has none.

        Raises:
            ValueError: for a naive time, which is our own fault.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            message = f"a naive time cannot be stored: {value}"
            raise ValueError(message)
        there = value.astimezone(UTC)
        return there.replace(tzinfo=None) if dialect.name == "sqlite" else there

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give an aware time back."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _chat() -> Column[str]:
    return Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), nullable=False)


learners = Table(
    "learners",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("made_at", UtcTime, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("learner", String(12), ForeignKey("learners.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("platform", String(16), nullable=False),
    Column("external", String(64), nullable=False),
    UniqueConstraint("platform", "external"),
)

chats = Table(
    "chats",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("learner", String(12), ForeignKey("learners.id", ondelete="CASCADE"), index=True),
    Column("platform", String(16), nullable=False),
    Column("external", String(64), nullable=False),
    Column("session", Text, nullable=False),
    Column("checking", Boolean, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("last_number", Integer, nullable=False),
    Column("last_change", Integer, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
    Column("checking_answers", String(32)),
    Column("checking_address", String(64)),
    Column("due_at", UtcTime),
    UniqueConstraint("platform", "external"),
)
Index("ix_chats_checking", chats.c.checking, sqlite_where=chats.c.checking)
Index("ix_chats_due_at", chats.c.due_at)


def is_private() -> ColumnElement[bool]:
    """Tell of a row of `chats` whether nobody else reads along: such a chat bears the name of its learner's account."""
    same = (accounts.c.platform == chats.c.platform) & (accounts.c.external == chats.c.external)
    return exists().where(accounts.c.learner == chats.c.learner, same).correlate(chats)


events = Table(
    "events",
    metadata,
    Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(80), primary_key=True),
    Column("taken_at", UtcTime, nullable=False, index=True),
)

asks = Table(
    "asks",
    metadata,
    Column("id", String(12), primary_key=True),
    _chat(),
    Column("kind", String(8), nullable=False),
    Column("lesson", String(24), nullable=False),
    Column("item", String(40), nullable=False),
    Column("rev", Integer, nullable=False),
    Column("options", Text, nullable=False),
    Column("course_hash", String(64), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("credit", Float),
    Column("misconception", String(40), nullable=False),
    Column("asked_at", UtcTime, nullable=False),
    Column("answered_at", UtcTime),
    CheckConstraint("credit IS NULL OR (credit >= 0 AND credit <= 1)", name="credit"),
)
Index("ix_asks_chat", asks.c.chat)
Index("ix_asks_item", asks.c.item, asks.c.kind)

runs = Table(
    "runs",
    metadata,
    Column("id", String(12), primary_key=True),
    _chat(),
    Column("slot", String(80), nullable=False),
    Column("job", Text, nullable=False),
    Column("result", Text),
    Column("told", Boolean, nullable=False),
    Column("submitted_at", UtcTime, nullable=False),
    Column("ended_at", UtcTime),
    Column("held_by", String(12)),
    Column("held_until", UtcTime),
)
Index("ix_runs_chat", runs.c.chat)
Index("ix_runs_told", runs.c.told, runs.c.submitted_at)

replies = Table(
    "replies",
    metadata,
    Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("slot", String(80)),
    Column("blocks", Text, nullable=False),
    Column("state", String(8), nullable=False),
    Column("change", Integer, nullable=False),
    Column("said_at", UtcTime, nullable=False),
    Column("answers", String(32), nullable=False, server_default=""),
    Column("address", String(64), nullable=False, server_default=""),
    UniqueConstraint("chat", "slot"),
)
Index("ix_replies_chat_change", replies.c.chat, replies.c.change)
