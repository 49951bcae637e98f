"""Which operator and which dtype a test was generated for, where the framework told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for column in ("op", "dtype"):
        op.add_column("tests", sa.Column(column, sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    for column in ("dtype", "op"):
        op.drop_column("tests", column)
