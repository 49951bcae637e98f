"""Comment commands: what was asked on which pull request, and our one comment there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pull_comments",
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("repo_key", "pr_number", name="pk_pull_comments"),
    )
    op.create_table(
        "comment_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("repo", sa.String(length=201), nullable=False),
        sa.Column("repo_key", sa.String(length=201), nullable=False),
        sa.Column("pr_number", sa.Integer(), nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.String(length=100), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("awaited_run_id", sa.Integer(), nullable=True),
        sa.Column("ending", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["awaited_run_id"], ["runs.id"], name="fk_comment_answers_awaited_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_comment_answers"),
    )
    op.create_index(
        "ix_comment_answers_repo_key_comment_id", "comment_answers", ["repo_key", "comment_id"], unique=True
    )
    op.create_index("ix_comment_answers_repo_key_pr_number_id", "comment_answers", ["repo_key", "pr_number", "id"])
    op.create_index("ix_comment_answers_awaited_run_id", "comment_answers", ["awaited_run_id"])


def downgrade() -> None:
    # Words that the version before does not know: it would fail over the first row that has one.
    op.execute("DELETE FROM outbox WHERE kind IN ('command', 'comment')")
    op.execute("UPDATE operator_actions SET via = 'api' WHERE via = 'comment'")
    op.drop_table("comment_answers")
    op.drop_table("pull_comments")
