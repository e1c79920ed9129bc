"""Where each reply goes and what it answers; lanes and paces that several bots of one platform share."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WAITING = sa.text("NOT done")


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("chats") as batch_op:
        batch_op.add_column(sa.Column("checking_answers", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("checking_address", sa.String(length=64), nullable=True))

    with op.batch_alter_table("replies") as batch_op:
        batch_op.add_column(sa.Column("answers", sa.String(length=32), server_default="", nullable=False))
        batch_op.add_column(sa.Column("address", sa.String(length=64), server_default="", nullable=False))

    with op.batch_alter_table("arrivals") as batch_op:
        batch_op.add_column(sa.Column("lane", sa.String(length=64), server_default="", nullable=False))
        batch_op.create_index(
            "ix_arrivals_lane",
            ["platform", "lane"],
            unique=False,
            sqlite_where=_WAITING,
            postgresql_where=_WAITING,
        )

    op.create_table(
        "lanes",
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("held_by", sa.String(length=12), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "name", name=op.f("pk_lanes")),
    )
    op.create_table(
        "paces",
        sa.Column("platform", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("times", sa.Text(), nullable=False),
        sa.Column("held", sa.Float(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("platform", "name", name=op.f("pk_paces")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("paces")
    op.drop_table("lanes")
    with op.batch_alter_table("arrivals") as batch_op:
        batch_op.drop_index("ix_arrivals_lane", sqlite_where=_WAITING, postgresql_where=_WAITING)
        batch_op.drop_column("lane")

    with op.batch_alter_table("replies") as batch_op:
        batch_op.drop_column("address")
        batch_op.drop_column("answers")

    with op.batch_alter_table("chats") as batch_op:
        batch_op.drop_column("checking_address")
        batch_op.drop_column("checking_answers")
