"""Indexes for the pages that look at many runs at once: the runs of a commit, the few tests drawn by lot, and the few
that speak against a change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_BREAKING = sa.text("verdict IN ('crash', 'missing', 'regression', 'timeout')")


def upgrade() -> None:
    op.create_index("ix_runs_head_sha", "runs", ["head_sha"])
    op.create_index(
        *("ix_tests_by_lot", "tests", ["run_id", "missed"]),
        sqlite_where=sa.text("by_lot = 1"),
        postgresql_where=sa.text("by_lot"),
    )
    op.create_index(
        *("ix_tests_breaking", "tests", ["test_id", "run_id"]),
        sqlite_where=_BREAKING,
        postgresql_where=_BREAKING,
    )


def downgrade() -> None:
    op.drop_index("ix_tests_breaking", "tests")
    op.drop_index("ix_tests_by_lot", "tests")
    op.drop_index("ix_runs_head_sha", "runs")
