"""Runs migrations on the connection that `relay.store.engine.upgrade_database` hands over, in its transaction.

Has no configuration of its own: there is no alembic.ini and no second way to name a database.
"""

from __future__ import annotations

from alembic import context

from relay.store.crcr_models import CrcrResult

context.configure(
    connection=context.config.attributes["connection"],
    # Of all tables: this one's module imports the other.
    target_metadata=CrcrResult.metadata,
    # SQLite can roll DDL back once the driver's own transaction handling is off, as it is here.
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
