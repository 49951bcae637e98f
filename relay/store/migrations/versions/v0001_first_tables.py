"""The first tables: deliveries, runs, selections, shards, tests, attempts, batches and events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_runs()
    _create_deliveries()
    _create_run_events()
    _create_selections()
    _create_shards()
    _create_result_batches()
    _create_tests()
    _create_attempts()


def downgrade() -> None:
    for table in ("attempts", "tests", "result_batches", "shards", "selections", "run_events", "deliveries", "runs"):
        op.drop_table(table)


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(length=300), nullable=False),
        sa.Column("repo", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("base_ref", sa.Text(), nullable=False),
        sa.Column("base_sha", sa.String(length=40), nullable=False),
        sa.Column("head_sha", sa.String(length=40), nullable=False),
        sa.Column("tested_base_sha", sa.Text(), nullable=False),
        sa.Column("fetch_ref", sa.Text(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("trigger", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rerun_of", sa.Integer(), nullable=True),
        sa.Column("only", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("conclusion", sa.String(length=32), nullable=True),
        sa.Column("headline", sa.Text(), nullable=False),
        sa.Column("manifest_digest", sa.String(length=100), nullable=False),
        sa.Column("selection_state", sa.Text(), nullable=True),
        sa.Column("not_tested", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["rerun_of"], ["runs.id"], name="fk_runs_rerun_of"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("identity", name="uq_runs_identity"),
    )
    op.create_index("ix_runs_repo_pr_number", "runs", ["repo", "pr_number"])
    op.create_index("ix_runs_rerun_of", "runs", ["rerun_of"])
    op.create_index("ix_runs_state", "runs", ["state"])


def _create_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("delivery_id", sa.String(length=200), nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("body_sha256", sa.String(length=64), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_deliveries_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("delivery_id", name="uq_deliveries_delivery_id"),
    )
    op.create_index("ix_deliveries_state_id", "deliveries", ["state", "id"])


def _create_run_events() -> None:
    op.create_table(
        "run_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_events_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_run_events_run_id_id", "run_events", ["run_id", "id"])


def _create_selections() -> None:
    op.create_table(
        "selections",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("kept", sa.Integer(), nullable=False),
        sa.Column("dropped", sa.Integer(), nullable=False),
        sa.Column("funnel", sa.LargeBinary(), nullable=False),
        sa.Column("changed_files", sa.LargeBinary(), nullable=False),
        sa.Column("decisions", sa.LargeBinary(), nullable=False),
        sa.Column("filtered", sa.LargeBinary(), nullable=False),
        sa.Column("notes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_selections_run_id"),
        sa.PrimaryKeyConstraint("run_id", name="pk_selections"),
    )


def _create_shards() -> None:
    op.create_table(
        "shards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("lease_id", sa.String(length=64), nullable=True),
        sa.Column("lease_worker", sa.Text(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_shards_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_shards"),
        sa.UniqueConstraint("run_id", "ordinal", name="uq_shards_run_id_ordinal"),
    )
    op.create_index("ix_shards_state_run_id", "shards", ["state", "run_id"])


def _create_result_batches() -> None:
    op.create_table(
        "result_batches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shard_id", sa.Integer(), nullable=False),
        sa.Column("lease_id", sa.String(length=64), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["shard_id"], ["shards.id"], name="fk_result_batches_shard_id"),
        sa.PrimaryKeyConstraint("id", name="pk_result_batches"),
        sa.UniqueConstraint("shard_id", "lease_id", "sequence", name="uq_result_batches_shard_id_lease_id_sequence"),
    )


def _create_tests() -> None:
    op.create_table(
        "tests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("shard_id", sa.Integer(), nullable=False),
        sa.Column("test_id", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("expected", sa.String(length=32), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("provenance", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("verdict", sa.String(length=32), nullable=True),
        sa.Column("observation", sa.String(length=32), nullable=True),
        sa.Column("duration_s", sa.Double(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_tests_run_id"),
        sa.ForeignKeyConstraint(["shard_id"], ["shards.id"], name="fk_tests_shard_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tests"),
        sa.UniqueConstraint("run_id", "test_id", name="uq_tests_run_id_test_id"),
    )
    op.create_index("ix_tests_run_id_verdict", "tests", ["run_id", "verdict"])
    op.create_index("ix_tests_shard_id", "tests", ["shard_id"])


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("planned_test_id", sa.Integer(), nullable=False),
        sa.Column("tree", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("observation", sa.String(length=32), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["planned_test_id"], ["tests.id"], name="fk_attempts_planned_test_id"),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.UniqueConstraint("planned_test_id", "tree", "number", name="uq_attempts_planned_test_id_tree_number"),
    )
