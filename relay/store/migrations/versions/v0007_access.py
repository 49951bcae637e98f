"""Who may do what: access tokens, sign-ins of browsers, and the audit log of what operators did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TABLES = ("access_tokens", "sign_ins", "operator_actions")


def upgrade() -> None:
    _create_access_tokens()
    _create_sign_ins()
    _create_operator_actions()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _create_access_tokens() -> None:
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("scope", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.String(length=100), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_access_tokens"),
        sa.UniqueConstraint("digest", name="uq_access_tokens_digest"),
    )
    op.create_index("ix_access_tokens_name", "access_tokens", ["name"])


def _create_sign_ins() -> None:
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("proof", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["access_tokens.id"], name="fk_sign_ins_token_id"),
        sa.PrimaryKeyConstraint("id", name="pk_sign_ins"),
        sa.UniqueConstraint("digest", name="uq_sign_ins_digest"),
    )
    op.create_index("ix_sign_ins_expires_at", "sign_ins", ["expires_at"])
    op.create_index("ix_sign_ins_token_id", "sign_ins", ["token_id"])


def _create_operator_actions() -> None:
    op.create_table(
        "operator_actions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=True),
        sa.Column("via", sa.String(length=32), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["token_id"], ["access_tokens.id"], name="fk_operator_actions_token_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_operator_actions_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_operator_actions"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_operator_actions_run_id_id", "operator_actions", ["run_id", "id"])
    op.create_index("ix_operator_actions_actor_id", "operator_actions", ["actor", "id"])
