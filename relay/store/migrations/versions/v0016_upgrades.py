"""Upgrade reports with their tests, and which release a run needs. Runs from before take what is nearest."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "upgrades",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("device", sa.String(length=100), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("base_commit", sa.String(length=64), nullable=False),
        sa.Column("head_commit", sa.String(length=64), nullable=False),
        sa.Column("duties", sa.JSON(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("about", sa.LargeBinary(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("published_by", sa.String(length=100), nullable=False),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("base_run_id", sa.Integer(), nullable=True),
        sa.Column("head_run_id", sa.Integer(), nullable=True),
        sa.Column("outcomes", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["base_run_id"], ["runs.id"], name="fk_upgrades_base_run_id"),
        sa.ForeignKeyConstraint(["head_run_id"], ["runs.id"], name="fk_upgrades_head_run_id"),
        sa.PrimaryKeyConstraint("id", name="pk_upgrades"),
        sa.UniqueConstraint("digest", name="uq_upgrades_digest"),
    )
    op.create_index("ix_upgrades_base_run_id", "upgrades", ["base_run_id"])
    op.create_index("ix_upgrades_head_run_id", "upgrades", ["head_run_id"])
    op.create_table(
        "upgrade_tests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("upgrade_id", sa.Integer(), nullable=False),
        sa.Column("duty", sa.String(length=32), nullable=False),
        sa.Column("change", sa.String(length=32), nullable=False),
        sa.Column("test", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["upgrade_id"], ["upgrades.id"], name="fk_upgrade_tests_upgrade_id"),
        sa.PrimaryKeyConstraint("id", name="pk_upgrade_tests"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_upgrade_tests_upgrade_id_duty_id", "upgrade_tests", ["upgrade_id", "duty", "id"])
    op.add_column("runs", sa.Column("release", sa.String(length=100), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("runs", "release")
    op.drop_table("upgrade_tests")
    op.drop_table("upgrades")
