"""First tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "learners",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_learners")),
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("external", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_accounts_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("platform", "external", name=op.f("uq_accounts_platform_external")),
    )
    with op.batch_alter_table("accounts") as batch_op:
        batch_op.create_index(batch_op.f("ix_accounts_learner"), ["learner"], unique=False)

    op.create_table(
        "chats",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("external", sa.String(length=64), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("checking", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("last_change", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_chats_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chats")),
        sa.UniqueConstraint("platform", "external", name=op.f("uq_chats_platform_external")),
    )
    with op.batch_alter_table("chats") as batch_op:
        batch_op.create_index("ix_chats_checking", ["checking"], unique=False, sqlite_where=sa.text("checking"))
        batch_op.create_index(batch_op.f("ix_chats_learner"), ["learner"], unique=False)

    op.create_table(
        "asks",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("lesson", sa.String(length=24), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("course_hash", sa.String(length=64), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("credit", sa.Float(), nullable=True),
        sa.Column("misconception", sa.String(length=40), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("credit IS NULL OR (credit >= 0 AND credit <= 1)", name=op.f("ck_asks_credit")),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_asks_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_asks")),
    )
    with op.batch_alter_table("asks") as batch_op:
        batch_op.create_index("ix_asks_chat", ["chat"], unique=False)
        batch_op.create_index("ix_asks_item", ["item", "kind"], unique=False)

    op.create_table(
        "events",
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_events_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chat", "key", name=op.f("pk_events")),
    )
    with op.batch_alter_table("events") as batch_op:
        batch_op.create_index(batch_op.f("ix_events_taken_at"), ["taken_at"], unique=False)

    op.create_table(
        "replies",
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("slot", sa.String(length=40), nullable=True),
        sa.Column("blocks", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("said_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_replies_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chat", "number", name=op.f("pk_replies")),
        sa.UniqueConstraint("chat", "slot", name=op.f("uq_replies_chat_slot")),
    )
    with op.batch_alter_table("replies") as batch_op:
        batch_op.create_index("ix_replies_chat_change", ["chat", "change"], unique=False)

    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("slot", sa.String(length=40), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_runs_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    with op.batch_alter_table("runs") as batch_op:
        batch_op.create_index("ix_runs_chat", ["chat"], unique=False)
        batch_op.create_index("ix_runs_told", ["told", "submitted_at"], unique=False)


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("runs") as batch_op:
        batch_op.drop_index("ix_runs_told")
        batch_op.drop_index("ix_runs_chat")

    op.drop_table("runs")
    with op.batch_alter_table("replies") as batch_op:
        batch_op.drop_index("ix_replies_chat_change")

    op.drop_table("replies")
    with op.batch_alter_table("events") as batch_op:
        batch_op.drop_index(batch_op.f("ix_events_taken_at"))

    op.drop_table("events")
    with op.batch_alter_table("asks") as batch_op:
        batch_op.drop_index("ix_asks_item")
        batch_op.drop_index("ix_asks_chat")

    op.drop_table("asks")
    with op.batch_alter_table("chats") as batch_op:
        batch_op.drop_index(batch_op.f("ix_chats_learner"))
        batch_op.drop_index("ix_chats_checking", sqlite_where=sa.text("checking"))

    op.drop_table("chats")
    with op.batch_alter_table("accounts") as batch_op:
        batch_op.drop_index(batch_op.f("ix_accounts_learner"))

    op.drop_table("accounts")
    op.drop_table("learners")
