"""Indexes for the pages that look at many runs at once: the runs of a commit, and the few tests drawn by lot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_runs_head_sha", "runs", ["head_sha"])
    op.create_index(
        *("ix_tests_by_lot", "tests", ["run_id", "missed"]),
        sqlite_where=sa.text("by_lot = 1"),
        postgresql_where=sa.text("by_lot"),
    )


def downgrade() -> None:
    op.drop_index("ix_tests_by_lot", "tests")
    op.drop_index("ix_runs_head_sha", "runs")
