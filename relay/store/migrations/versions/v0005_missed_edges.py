"""Tests that a selection once left out although the change broke them, by the files of that change: kept for good."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "missed_edges",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("changed_path", sa.Text(), nullable=False),
        sa.Column("base_test", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_missed_edges_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_missed_edges"),
        sa.UniqueConstraint(
            *("device", "changed_path", "base_test"), name="uq_missed_edges_device_changed_path_base_test"
        ),
    )
    op.create_index("ix_missed_edges_run_id", "missed_edges", ["run_id"])


def downgrade() -> None:
    op.drop_table("missed_edges")
