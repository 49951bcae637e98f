"""The output of shards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_shard_logs()
    _create_log_chunks()


def downgrade() -> None:
    op.drop_table("log_chunks")
    op.drop_table("shard_logs")


def _create_shard_logs() -> None:
    op.create_table(
        "shard_logs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("shard_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("full", sa.Boolean(), nullable=False),
        sa.Column("failed_chunk", sa.Integer(), nullable=True),
        sa.Column("failed_line", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_shard_logs_run_id"),
        sa.ForeignKeyConstraint(["shard_id"], ["shards.id"], name="fk_shard_logs_shard_id"),
        sa.PrimaryKeyConstraint("id", name="pk_shard_logs"),
        sa.UniqueConstraint("shard_id", "attempt", name="uq_shard_logs_shard_id_attempt"),
    )
    op.create_index("ix_shard_logs_run_id", "shard_logs", ["run_id"])
    op.create_index("ix_shard_logs_began_at", "shard_logs", ["began_at"])


def _create_log_chunks() -> None:
    op.create_table(
        "log_chunks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("log_id", sa.Integer(), nullable=False),
        sa.Column("first_line", sa.Integer(), nullable=False),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_log_chunks_run_id"),
        sa.ForeignKeyConstraint(["log_id"], ["shard_logs.id"], name="fk_log_chunks_log_id"),
        sa.PrimaryKeyConstraint("id", name="pk_log_chunks"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_log_chunks_run_id_id", "log_chunks", ["run_id", "id"])
    op.create_index("ix_log_chunks_log_id_id", "log_chunks", ["log_id", "id"])
