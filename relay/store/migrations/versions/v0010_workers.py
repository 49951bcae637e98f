"""Workers that are there, idle ones too; and by what settled letters and webhooks' bodies are found to be removed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_HAS_BODY = sa.text("body_removed_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("process", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("sandbox", sa.Text(), nullable=False),
        sa.Column("manifest_profile", sa.Text(), nullable=False),
        sa.Column("environments", sa.LargeBinary(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
        sa.UniqueConstraint("name", "device", name="uq_workers_name_device"),
    )
    op.create_index("ix_workers_seen_at", "workers", ["seen_at"])
    op.add_column("deliveries", sa.Column("body_removed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index(
        *("ix_deliveries_bodies", "deliveries", ["received_at", "id", "state", "body_removed_at"]),
        sqlite_where=_HAS_BODY,
        postgresql_where=_HAS_BODY,
    )
    op.create_index("ix_outbox_settled_at_id", "outbox", ["settled_at", "id"])


def downgrade() -> None:
    op.drop_index("ix_outbox_settled_at_id", "outbox")
    op.drop_index("ix_deliveries_bodies", "deliveries")
    op.drop_column("deliveries", "body_removed_at")
    op.drop_table("workers")
