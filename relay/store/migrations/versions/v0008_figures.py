"""Indexes for the pages that look at many runs at once: a commit's runs, tests drawn by lot, and what selections left
out, which otherwise stands behind large documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_COSTS = ["run_id", "kept", "dropped", "expected_seconds", "seconds_saved"]


def upgrade() -> None:
    op.create_index("ix_runs_head_sha", "runs", ["head_sha"])
    op.create_index("ix_selections_costs", "selections", _COSTS)
    op.create_index(
        *("ix_tests_by_lot", "tests", ["run_id", "missed"]),
        sqlite_where=sa.text("by_lot = 1"),
        postgresql_where=sa.text("by_lot"),
    )


def downgrade() -> None:
    op.drop_index("ix_tests_by_lot", "tests")
    op.drop_index("ix_selections_costs", "selections")
    op.drop_index("ix_runs_head_sha", "runs")
