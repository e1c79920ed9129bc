"""What is wrong with the installation, who looks after it, and since when."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    op.create_table(
        "incidents",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("held_by", sa.String(length=12), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("over_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("waiting", sa.Integer(), nullable=False),
        sa.Column("age_s", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_incidents")),
    )


def downgrade() -> None:
    """Go back."""
    op.drop_table("incidents")
