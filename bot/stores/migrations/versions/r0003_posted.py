"""What came from a chat platform, and what goes out to it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_OPEN = sa.text("state IN ('sending', 'unknown')")


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "mailboxes",
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("delivered", sa.Integer(), nullable=False),
        sa.Column("silent", sa.Boolean(), nullable=False),
        sa.Column("held_by", sa.String(length=12), nullable=True),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_mailboxes_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chat", name=op.f("pk_mailboxes")),
    )
    with op.batch_alter_table("mailboxes") as batch_op:
        batch_op.create_index("ix_mailboxes_address", ["address"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("digest", sa.String(length=32), nullable=False),
        sa.Column("change", sa.Integer(), nullable=False),
        sa.Column("external", sa.String(length=32), nullable=False),
        sa.Column("answers", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_deliveries_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chat", "number", "part", name=op.f("pk_deliveries")),
    )
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.create_index("ix_deliveries_chat_answers", ["chat", "answers"], unique=False)
        batch_op.create_index("ix_deliveries_external", ["external"], unique=False)
        batch_op.create_index(
            "ix_deliveries_state", ["state"], unique=False, sqlite_where=_OPEN, postgresql_where=_OPEN
        )

    op.create_table(
        "arrivals",
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "key", name=op.f("pk_arrivals")),
    )
    with op.batch_alter_table("arrivals") as batch_op:
        batch_op.create_index("ix_arrivals_done", ["platform", "done", "position"], unique=False)


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("arrivals") as batch_op:
        batch_op.drop_index("ix_arrivals_done")

    op.drop_table("arrivals")
    with op.batch_alter_table("deliveries") as batch_op:
        batch_op.drop_index("ix_deliveries_state", sqlite_where=_OPEN, postgresql_where=_OPEN)
        batch_op.drop_index("ix_deliveries_external")
        batch_op.drop_index("ix_deliveries_chat_answers")

    op.drop_table("deliveries")
    with op.batch_alter_table("mailboxes") as batch_op:
        batch_op.drop_index("ix_mailboxes_address")

    op.drop_table("mailboxes")
