"""Chats of groups, which are nobody's, and what members answered there."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("chats") as batch_op:
        batch_op.alter_column("learner", existing_type=sa.String(length=12), nullable=True)
        batch_op.add_column(sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index("ix_chats_due_at", ["due_at"], unique=False)

    op.create_table(
        "group_answers",
        sa.Column("ask", sa.String(length=12), nullable=False),
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("room", sa.String(length=12), nullable=False),
        sa.Column("quiz", sa.String(length=12), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("answer", sa.String(length=40), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_group_answers_chat_chats"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_group_answers_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ask", "chat", name=op.f("pk_group_answers")),
    )
    with op.batch_alter_table("group_answers") as batch_op:
        batch_op.create_index("ix_group_answers_learner", ["learner"], unique=False)
        batch_op.create_index("ix_group_answers_quiz", ["quiz"], unique=False)


def downgrade() -> None:
    """Go back; the chats of groups have no place there."""
    with op.batch_alter_table("group_answers") as batch_op:
        batch_op.drop_index("ix_group_answers_quiz")
        batch_op.drop_index("ix_group_answers_learner")

    op.drop_table("group_answers")
    op.execute("DELETE FROM chats WHERE learner IS NULL")
    with op.batch_alter_table("chats") as batch_op:
        batch_op.drop_index("ix_chats_due_at")
        batch_op.drop_column("due_at")
        batch_op.alter_column("learner", existing_type=sa.String(length=12), nullable=False)
