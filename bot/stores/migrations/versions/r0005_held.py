"""Which bot follows a run, and until when."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Go forward."""
    with op.batch_alter_table("runs") as batch_op:
        batch_op.add_column(sa.Column("held_by", sa.String(length=12), nullable=True))
        batch_op.add_column(sa.Column("held_until", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Go back."""
    with op.batch_alter_table("runs") as batch_op:
        batch_op.drop_column("held_until")
        batch_op.drop_column("held_by")
