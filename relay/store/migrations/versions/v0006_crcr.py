"""The tables of the Cross-Repository CI Relay protocol: dispatches, what backends answered, the outbox, the results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_TABLES = (
    "backend_jobs",
    "check_wishes",
    "crcr_results",
    "demotions",
    "dispatches",
    "rate_buckets",
    "remote_documents",
    "seen_tokens",
    "backend_job_events",
    "outbox",
)


def upgrade() -> None:
    _create_backend_jobs()
    _create_check_wishes()
    _create_crcr_results()
    _create_demotions()
    _create_dispatches()
    _create_rate_buckets()
    _create_remote_documents()
    _create_seen_tokens()
    _create_backend_job_events()
    _create_outbox()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _create_backend_jobs() -> None:
    op.create_table(
        "backend_jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(length=64), nullable=False),
        sa.Column("delivery_id", sa.String(length=200), nullable=False),
        sa.Column("repo", sa.String(length=201), nullable=False),
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("workflow", sa.String(length=300), nullable=False),
        sa.Column("job_name", sa.String(length=300), nullable=False),
        sa.Column("run_id", sa.String(length=100), nullable=False),
        sa.Column("run_attempt", sa.Integer(), nullable=False),
        sa.Column("event_type", sa.String(length=100), nullable=False),
        sa.Column("level", sa.String(length=2), nullable=False),
        sa.Column("upstream_repo", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=True),
        sa.Column("head_sha", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("conclusion", sa.String(length=32), nullable=True),
        sa.Column("assumed", sa.Text(), nullable=False),
        sa.Column("in_progress_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.Text(), nullable=True),
        sa.Column("ended_at", sa.Text(), nullable=True),
        sa.Column("queue_time", sa.Double(), nullable=True),
        sa.Column("execution_time", sa.Double(), nullable=True),
        sa.Column("rerun_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("reported_check", sa.Text(), nullable=False),
        sa.Column("check_id", sa.BigInteger(), nullable=True),
        sa.Column("callback", sa.LargeBinary(), nullable=False),
        sa.Column("in_progress_digest", sa.String(length=64), nullable=False),
        sa.Column("completed_digest", sa.String(length=64), nullable=False),
        sa.Column("mismatch", sa.JSON(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_backend_jobs"),
        sa.UniqueConstraint("identity", name="uq_backend_jobs_identity"),
    )
    op.create_index("ix_backend_jobs_delivery_id_repo_key", "backend_jobs", ["delivery_id", "repo_key"])
    op.create_index("ix_backend_jobs_head_sha_repo_key", "backend_jobs", ["head_sha", "repo_key"])
    op.create_index("ix_backend_jobs_repo_key_id", "backend_jobs", ["repo_key", "id"])
    op.create_index("ix_backend_jobs_state_deadline_at", "backend_jobs", ["state", "deadline_at"])


def _create_check_wishes() -> None:
    op.create_table(
        "check_wishes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("upstream_repo", sa.String(length=201), nullable=False),
        sa.Column("head_sha", sa.String(length=64), nullable=False),
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_check_wishes"),
        sa.UniqueConstraint(
            "upstream_repo", "head_sha", "repo_key", name="uq_check_wishes_upstream_repo_head_sha_repo_key"
        ),
    )


def _create_demotions() -> None:
    op.create_table(
        "demotions",
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("repo", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("repo_key", name="pk_demotions"),
    )


def _create_crcr_results() -> None:
    op.create_table(
        "crcr_results",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(length=64), nullable=False),
        sa.Column("dynamo_key", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("conclusion", sa.Text(), nullable=False),
        sa.Column("downstream_repo", sa.String(length=201), nullable=False),
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("downstream_repo_level", sa.Text(), nullable=False),
        sa.Column("upstream_repo", sa.Text(), nullable=False),
        sa.Column("pr_number", sa.BigInteger(), nullable=False),
        sa.Column("pytorch_head_sha", sa.String(length=200), nullable=False),
        sa.Column("delivery_id", sa.Text(), nullable=False),
        sa.Column("event_type", sa.String(length=100), nullable=False),
        sa.Column("workflow_name", sa.Text(), nullable=False),
        sa.Column("workflow_run_url", sa.Text(), nullable=False),
        sa.Column("job_name", sa.Text(), nullable=False),
        sa.Column("check_run_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("run_attempt", sa.Integer(), nullable=False),
        sa.Column("queue_time", sa.Double(), nullable=True),
        sa.Column("execution_time", sa.Double(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("total_tests", sa.BigInteger(), nullable=False),
        sa.Column("passed_tests", sa.BigInteger(), nullable=False),
        sa.Column("failed_tests", sa.BigInteger(), nullable=False),
        sa.Column("skipped_tests", sa.BigInteger(), nullable=False),
        sa.Column("failed_tests_json", sa.Text(), nullable=False),
        sa.Column("artifact_url", sa.Text(), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("triage_verdict", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("listed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crcr_results"),
        sa.UniqueConstraint("identity", name="uq_crcr_results_identity"),
    )
    op.create_index("ix_crcr_results_event_type_listed_at", "crcr_results", ["event_type", "listed_at"])
    op.create_index("ix_crcr_results_listed_at", "crcr_results", ["listed_at"])
    op.create_index("ix_crcr_results_repo_key_listed_at", "crcr_results", ["repo_key", "listed_at"])
    op.create_index("ix_crcr_results_pr_number", "crcr_results", ["pr_number"])
    op.create_index("ix_crcr_results_pytorch_head_sha", "crcr_results", ["pytorch_head_sha"])


def _create_dispatches() -> None:
    op.create_table(
        "dispatches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("delivery_id", sa.String(length=200), nullable=False),
        sa.Column("repo", sa.String(length=201), nullable=False),
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("level", sa.String(length=2), nullable=False),
        sa.Column("event_type", sa.String(length=100), nullable=False),
        sa.Column("upstream_repo", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=True),
        sa.Column("head_sha", sa.String(length=64), nullable=False),
        sa.Column("nonce", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("trim", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("queued_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("dispatched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_dispatches"),
        sa.UniqueConstraint("delivery_id", "repo_key", name="uq_dispatches_delivery_id_repo_key"),
    )
    op.create_index("ix_dispatches_head_sha_repo_key", "dispatches", ["head_sha", "repo_key"])
    op.create_index("ix_dispatches_state_dispatched_at", "dispatches", ["state", "dispatched_at"])
    op.create_index("ix_dispatches_upstream_repo_pr_number", "dispatches", ["upstream_repo", "pr_number"])


def _create_rate_buckets() -> None:
    op.create_table(
        "rate_buckets",
        sa.Column("key", sa.String(length=600), nullable=False),
        sa.Column("tokens", sa.Double(), nullable=False),
        sa.Column("refilled_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_rate_buckets"),
    )


def _create_remote_documents() -> None:
    op.create_table(
        "remote_documents",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("good_text", sa.Text(), nullable=True),
        sa.Column("good_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seen_etag", sa.Text(), nullable=False),
        sa.Column("seen_digest", sa.String(length=64), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_remote_documents"),
    )


def _create_seen_tokens() -> None:
    op.create_table(
        "seen_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("issuer", sa.String(length=200), nullable=False),
        sa.Column("jti", sa.String(length=200), nullable=False),
        sa.Column("body_digest", sa.String(length=64), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_seen_tokens"),
        sa.UniqueConstraint("issuer", "jti", name="uq_seen_tokens_issuer_jti"),
    )
    op.create_index("ix_seen_tokens_expires_at", "seen_tokens", ["expires_at"])


def _create_backend_job_events() -> None:
    op.create_table(
        "backend_job_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("callback", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["backend_jobs.id"], name="fk_backend_job_events_job_id"),
        sa.PrimaryKeyConstraint("id", name="pk_backend_job_events"),
    )
    op.create_index("ix_backend_job_events_job_id_id", "backend_job_events", ["job_id", "id"])


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=600), nullable=False),
        sa.Column("lane", sa.String(length=600), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_id", sa.String(length=64), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("open_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dispatch_id", sa.Integer(), nullable=True),
        sa.Column("job_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["dispatch_id"], ["dispatches.id"], name="fk_outbox_dispatch_id"),
        sa.ForeignKeyConstraint(["job_id"], ["backend_jobs.id"], name="fk_outbox_job_id"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
    )
    op.create_index("ix_outbox_lane_id", "outbox", ["lane", "id"])
    op.create_index("ix_outbox_state_due_at", "outbox", ["state", "due_at"])
    op.create_index("ix_outbox_state_kind", "outbox", ["state", "kind"])
