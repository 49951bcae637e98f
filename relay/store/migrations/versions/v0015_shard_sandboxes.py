"""How test processes of a shard were confined, and by which worker. Of shards from before nobody knows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("shards", sa.Column("sandbox", sa.Text(), nullable=False, server_default=""))
    op.add_column("shards", sa.Column("sandbox_of", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("shards", "sandbox_of")
    op.drop_column("shards", "sandbox")
