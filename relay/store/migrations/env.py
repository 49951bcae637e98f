"""Runs migrations on the connection that `relay.store.engine.upgrade_database` hands over, in its transaction.

Has no configuration of its own: there is no alembic.ini and no second way to name a database.
"""

from __future__ import annotations

from alembic import context

from relay.store.access_models import AccessToken
from relay.store.comment_models import CommentAnswer
from relay.store.crcr_models import CrcrResult
from relay.store.log_models import ShardLog
from relay.store.presence_models import Worker

#: One of each module that has tables: all tables share one metadata, and are in it once their module is imported.
_TABLES = (CrcrResult, AccessToken, ShardLog, Worker, CommentAnswer)

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=_TABLES[0].metadata,
    # SQLite can roll DDL back once the driver's own transaction handling is off, as it is here.
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
