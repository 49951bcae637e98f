"""What runs are placed in the queue by, and how long shards may take and took."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

#: Runs from before are placed as new ones are (`relay.runs.standing`). Of old audits nobody knows who asked for them.
_PLACED = sa.text(
    """
    UPDATE runs SET
        work_class = CASE
            WHEN "trigger" IN ('audit', 'confirm') THEN 'audit'
            WHEN pr_number IS NULL THEN 'merged'
            ELSE 'pull_request'
        END,
        group_key = CASE
            WHEN "trigger" IN ('audit', 'confirm') THEN 'audit'
            WHEN pr_number IS NULL THEN 'ref:' || lower(repo) || ':' || base_ref
            ELSE 'pr:' || lower(repo) || '#' || CAST(pr_number AS VARCHAR(20))
        END,
        asked = "trigger" IN ('rerun', 'manual')
    """
)


def upgrade() -> None:
    op.add_column("runs", sa.Column("work_class", sa.String(length=32), nullable=False, server_default="pull_request"))
    op.add_column("runs", sa.Column("group_key", sa.Text(), nullable=False, server_default=""))
    op.add_column("runs", sa.Column("asked", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("runs", sa.Column("served_s", sa.Double(), nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("served_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_runs_device_served_at", "runs", ["device", "served_at"])
    op.execute(_PLACED)
    op.add_column("shards", sa.Column("leased_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("shards", sa.Column("expected_s", sa.Double(), nullable=False, server_default="0"))
    op.add_column("shards", sa.Column("took_s", sa.Double(), nullable=False, server_default="0"))
    op.drop_index("ix_shards_state_run_id", "shards")
    op.create_index("ix_shards_queue", "shards", ["state", "run_id", "expected_s"])


def downgrade() -> None:
    op.drop_index("ix_shards_queue", "shards")
    op.create_index("ix_shards_state_run_id", "shards", ["state", "run_id"])
    for column in ("took_s", "expected_s", "leased_at"):
        op.drop_column("shards", column)
    op.drop_index("ix_runs_device_served_at", "runs")
    for column in ("served_at", "served_s", "asked", "group_key", "work_class"):
        op.drop_column("runs", column)
