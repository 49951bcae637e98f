"""Which schema a database has, and which this version knows. Imports alembic: for the inside of commands."""

from __future__ import annotations

from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection


def schema_of(connection: Connection) -> tuple[str | None, str | None, frozenset[str]]:
    """The revision there, the newest, and all that are known."""
    config = Config()
    config.set_main_option("script_location", "relay.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    known = frozenset(script.revision for script in scripts.walk_revisions())
    return MigrationContext.configure(connection).get_current_revision(), scripts.get_current_head(), known
