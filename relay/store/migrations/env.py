"""Runs migrations on the connection that `relay.store.engine.upgrade_database` hands over, in its transaction.

Has no configuration of its own: there is no alembic.ini and no second way to name a database.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from alembic import context

import relay.store
from relay.store.models import Base

# All tables share one metadata, and are in it once the module that has them is imported.
for _module in pkgutil.iter_modules(relay.store.__path__):
    if _module.name.endswith("_models"):
        import_module(f"relay.store.{_module.name}")

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite can roll DDL back once the driver's own transaction handling is off, as it is here.
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
