"""Why a worker that is there can do no work, in its own words. Of workers that said nothing of it: nothing."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("workers", sa.Column("trouble", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("workers", "trouble")
