"""What a manifest says about a test's process, what a run was tested on, which attempts are reused, and which operators
the tests of a device were seen to use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tests", sa.Column("isolate", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("tests", sa.Column("timeout_s", sa.Double(), nullable=True))
    op.add_column("attempts", sa.Column("reused", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("runs", sa.Column("tested_on", sa.JSON(), nullable=True))
    op.create_index("ix_tests_test_id_run_id", "tests", ["test_id", "run_id"])
    _create_operator_uses()


def downgrade() -> None:
    op.drop_table("operator_uses")
    op.drop_index("ix_tests_test_id_run_id", "tests")
    # Not in batch mode: that makes SQLite's tables anew, which the rows that refer to them forbid.
    for table, column in (("runs", "tested_on"), ("attempts", "reused"), ("tests", "timeout_s"), ("tests", "isolate")):
        op.drop_column(table, column)


def _create_operator_uses() -> None:
    op.create_table(
        "operator_uses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("operator", sa.String(length=200), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("last_run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["last_run_id"], ["runs.id"], name="fk_operator_uses_last_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_operator_uses"),
        sa.UniqueConstraint("device", "base", "operator", name="uq_operator_uses_device_base_operator"),
    )
    op.create_index("ix_operator_uses_device_operator", "operator_uses", ["device", "operator"])
    op.create_index("ix_operator_uses_device_last_run_id", "operator_uses", ["device", "last_run_id"])
