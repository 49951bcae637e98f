"""What one process at a time does for all, and which one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "duties",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("holder", sa.String(length=120), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_duties"),
    )


def downgrade() -> None:
    op.drop_table("duties")
