"""Workers that are there, idle ones too."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("process", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("sandbox", sa.Text(), nullable=False),
        sa.Column("manifest_profile", sa.Text(), nullable=False),
        sa.Column("environments", sa.LargeBinary(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
        sa.UniqueConstraint("name", "device", name="uq_workers_name_device"),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"])


def downgrade() -> None:
    op.drop_table("workers")
