"""How far the webhooks of each pull request were handled. Of those from before nobody is behind."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pull_heads",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("delivery_row", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["delivery_row"], ["deliveries.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repo", "number"),
    )


def downgrade() -> None:
    op.drop_table("pull_heads")
