"""The tables of what came from a chat platform and what goes out to it; the same metadata and laws as `tables.py`."""

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, String, Table, Text, text

from bot.stores.tables import UtcTime, metadata


def _chat() -> Column[str]:
    return Column("chat", String(12), ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True)


mailboxes = Table(
    "mailboxes",
    metadata,
    _chat(),
    Column("address", String(64), nullable=False),
    Column("delivered", Integer, nullable=False),
    Column("silent", Boolean, nullable=False),
    Column("held_by", String(12)),
    Column("held_until", UtcTime),
)
Index("ix_mailboxes_address", mailboxes.c.address)

deliveries = Table(
    "deliveries",
    metadata,
    _chat(),
    Column("number", Integer, primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("state", String(8), nullable=False),
    Column("kind", String(12), nullable=False),
    Column("digest", String(32), nullable=False),
    Column("change", Integer, nullable=False),
    Column("external", String(32), nullable=False),
    Column("answers", String(32), nullable=False),
)
Index("ix_deliveries_external", deliveries.c.external)
Index("ix_deliveries_chat_answers", deliveries.c.chat, deliveries.c.answers)
_OPEN = text("state IN ('sending', 'unknown')")
Index("ix_deliveries_state", deliveries.c.state, sqlite_where=_OPEN, postgresql_where=_OPEN)

arrivals = Table(
    "arrivals",
    metadata,
    Column("platform", String(16), primary_key=True),
    Column("key", String(40), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("arrived_at", UtcTime, nullable=False),
    Column("lane", String(64), nullable=False, server_default=""),
)
Index("ix_arrivals_done", arrivals.c.platform, arrivals.c.done, arrivals.c.position)
_WAITING = text("NOT done")
Index("ix_arrivals_lane", arrivals.c.platform, arrivals.c.lane, sqlite_where=_WAITING, postgresql_where=_WAITING)

servers = Table(
    "servers",
    metadata,
    Column("platform", String(16), primary_key=True),
    Column("server", String(32), primary_key=True),
    Column("rules", Text, nullable=False),
    Column("changed_at", UtcTime, nullable=False),
)

lanes = Table(
    "lanes",
    metadata,
    Column("platform", String(16), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("held_by", String(12), nullable=False),
    Column("held_until", UtcTime, nullable=False),
)

paces = Table(
    "paces",
    metadata,
    Column("platform", String(16), primary_key=True),
    Column("name", String(32), primary_key=True),
    Column("times", Text, nullable=False),
    Column("held", Float, nullable=False),
    Column("used_at", UtcTime, nullable=False),
)
