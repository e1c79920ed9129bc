"""What a learner knows, tried and wishes."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    _slots_of(80)
    op.create_table(
        "difficulties",
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("difficulty", sa.Float(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("item", name=op.f("pk_difficulties")),
    )
    op.create_table(
        "files",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("chat", sa.String(length=12), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("media", sa.String(length=80), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_files_chat_chats"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_files")),
    )
    with op.batch_alter_table("files") as batch_op:
        batch_op.create_index("ix_files_chat", ["chat"], unique=False)

    op.create_table(
        "sweeps",
        sa.Column("name", sa.String(length=24), nullable=False),
        sa.Column("done_to", sa.DateTime(timezone=True), nullable=True),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sweeps")),
    )
    op.create_table(
        "attempts",
        sa.Column("run", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("exercise", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("ratio", sa.Float(), nullable=True),
        sa.Column("ratio_low", sa.Float(), nullable=True),
        sa.Column("ratio_high", sa.Float(), nullable=True),
        sa.Column("share", sa.Float(), nullable=True),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("board", sa.Boolean(), nullable=False),
        sa.Column("machine", sa.String(length=80), nullable=False),
        sa.Column("device", sa.String(length=8), nullable=False),
        sa.Column("outcome", sa.String(length=40), nullable=False),
        sa.Column("attempted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_attempts_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run", name=op.f("pk_attempts")),
    )
    with op.batch_alter_table("attempts") as batch_op:
        batch_op.create_index("ix_attempts_board", ["exercise", "board", "machine", "ratio"], unique=False)
        batch_op.create_index("ix_attempts_learner_exercise", ["learner", "exercise"], unique=False)

    op.create_table(
        "board_names",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("likeness", sa.String(length=80), nullable=False),
        sa.Column("chosen_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_board_names_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", name=op.f("pk_board_names")),
        sa.UniqueConstraint("likeness", name=op.f("uq_board_names_likeness")),
    )
    op.create_table(
        "cards",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("card", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("memory", sa.Text(), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=False),
        sa.Column("suspended", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_cards_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", "card", name=op.f("pk_cards")),
    )
    with op.batch_alter_table("cards") as batch_op:
        batch_op.create_index("ix_cards_learner_due", ["learner", "suspended", "due"], unique=False)

    op.create_table(
        "complaints",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.Column("settled", sa.Boolean(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_complaints_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_complaints")),
    )
    with op.batch_alter_table("complaints") as batch_op:
        batch_op.create_index("ix_complaints_learner", ["learner"], unique=False)

    op.create_table(
        "misses",
        sa.Column("ask", sa.String(length=12), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("misconception", sa.String(length=40), nullable=False),
        sa.Column("missed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["ask"], ["asks.id"], name=op.f("fk_misses_ask_asks"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_misses_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ask", "number", name=op.f("pk_misses")),
    )
    with op.batch_alter_table("misses") as batch_op:
        batch_op.create_index("ix_misses_learner", ["learner"], unique=False)

    op.create_table(
        "questions",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("text", sa.String(length=500), nullable=False),
        sa.Column("band", sa.String(length=8), nullable=False),
        sa.Column("offered", sa.Text(), nullable=False),
        sa.Column("chosen", sa.String(length=80), nullable=False),
        sa.Column("unmatched", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_questions_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
    )
    with op.batch_alter_table("questions") as batch_op:
        batch_op.create_index("ix_questions_asked_at", ["asked_at"], unique=False)
        batch_op.create_index("ix_questions_learner", ["learner"], unique=False)

    op.create_table(
        "reviews",
        sa.Column("id", sa.String(length=12), nullable=False),
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("card", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("memory_before", sa.Text(), nullable=True),
        sa.Column("was_due", sa.Boolean(), nullable=False),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("rating >= 1 AND rating <= 4", name=op.f("ck_reviews_rating")),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_reviews_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reviews")),
    )
    with op.batch_alter_table("reviews") as batch_op:
        batch_op.create_index("ix_reviews_learner_reviewed_at", ["learner", "reviewed_at"], unique=False)

    op.create_table(
        "streaks",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("last_day", sa.String(length=10), nullable=False),
        sa.Column("freezes", sa.Integer(), nullable=False),
        sa.Column("week", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_streaks_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", name=op.f("pk_streaks")),
    )
    op.create_table(
        "topics",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("topic", sa.String(length=40), nullable=False),
        sa.Column("theta", sa.Float(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("firsts", sa.Integer(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("last_day", sa.String(length=10), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_topics_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", "topic", name=op.f("pk_topics")),
    )
    op.create_table(
        "visits",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("stop", sa.String(length=80), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_visits_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", "stop", name=op.f("pk_visits")),
    )
    with op.batch_alter_table("visits") as batch_op:
        batch_op.create_index("ix_visits_stop", ["stop"], unique=False)

    op.create_table(
        "votes",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("myth", sa.String(length=40), nullable=False),
        sa.Column("rev", sa.Integer(), nullable=False),
        sa.Column("vote", sa.String(length=16), nullable=False),
        sa.Column("voted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_votes_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", "myth", name=op.f("pk_votes")),
    )
    with op.batch_alter_table("votes") as batch_op:
        batch_op.create_index("ix_votes_myth", ["myth", "vote"], unique=False)

    op.create_table(
        "wishes",
        sa.Column("learner", sa.String(length=12), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("reminders", sa.Boolean(), nullable=False),
        sa.Column("remind_minute", sa.Integer(), nullable=False),
        sa.Column("quiet_from", sa.Integer(), nullable=False),
        sa.Column("quiet_to", sa.Integer(), nullable=False),
        sa.Column("daily_cap", sa.Integer(), nullable=False),
        sa.Column("days_off", sa.String(length=7), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_day", sa.String(length=10), nullable=False),
        sa.Column("unanswered", sa.Integer(), nullable=False),
        sa.Column("leased_by", sa.String(length=40), nullable=False),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name=op.f("fk_wishes_learner_learners"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("learner", name=op.f("pk_wishes")),
    )
    with op.batch_alter_table("wishes") as batch_op:
        batch_op.create_index("ix_wishes_next_at", ["next_at"], unique=False)


def _slots_of(length: int) -> None:
    """Make room for the longest slot: a purpose with an id of 40 characters, a vote and a run."""
    for table, missing in (("runs", False), ("replies", True)):
        with op.batch_alter_table(table) as batch_op:
            batch_op.alter_column("slot", type_=sa.String(length=length), existing_nullable=missing)


def downgrade() -> None:
    """Go back."""
    op.drop_table("wishes")
    op.drop_table("votes")
    op.drop_table("visits")
    op.drop_table("topics")
    op.drop_table("streaks")
    op.drop_table("reviews")
    op.drop_table("questions")
    op.drop_table("misses")
    op.drop_table("complaints")
    op.drop_table("cards")
    op.drop_table("board_names")
    op.drop_table("sweeps")
    op.drop_table("files")
    op.drop_table("attempts")
    op.drop_table("difficulties")
    _slots_of(40)
