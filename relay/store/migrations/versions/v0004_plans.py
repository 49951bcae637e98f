"""What a plan costs and risks, which tests run by lot and which of them were missed, and why a run runs everything."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COSTS = ("expected_seconds", "seconds_saved", "expected_misses")


def upgrade() -> None:
    op.add_column("runs", sa.Column("full", sa.Text(), nullable=False, server_default=""))
    for column in ("by_lot", "missed"):
        op.add_column("tests", sa.Column(column, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("selections", sa.Column("plan_key", sa.Text(), nullable=False, server_default=""))
    for column in _COSTS:
        op.add_column("selections", sa.Column(column, sa.Double(), nullable=False, server_default="0"))


def downgrade() -> None:
    for column in ("plan_key", *_COSTS):
        op.drop_column("selections", column)
    for column in ("missed", "by_lot"):
        op.drop_column("tests", column)
    op.drop_column("runs", "full")
