"""Codes that join two accounts, wrong guesses of them, and what the owners of servers set."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "links",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("code", sa.String(length=12), nullable=False),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_links_chat_chats"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_links_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", name=op.f("pk_links")),
        sa.UniqueConstraint("code", name=op.f("uq_links_code")),
    )
    op.create_table(
        "guesses",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("wrong", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_guesses_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", name=op.f("pk_guesses")),
    )
    op.create_table(
        "servers",
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("server", sa.String(length=32), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "server", name=op.f("pk_servers")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("servers")
    op.drop_table("guesses")
    op.drop_table("links")
