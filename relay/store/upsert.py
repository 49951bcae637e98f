"""An insert that says what to do about a row that is there already. Both databases can, by statements of their own that
read alike (https://docs.sqlalchemy.org/en/21/dialects/sqlite.html, "INSERT...ON CONFLICT").
"""

from __future__ import annotations

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from relay.store.models import Base


def insert_into(session: Session, table: type[Base]) -> postgresql.Insert | sqlite.Insert:
    """An insert into a table, for the database of this session."""
    return insert_for(session.get_bind().dialect.name, table)


def insert_for(dialect: str, table: type[Base]) -> postgresql.Insert | sqlite.Insert:
    """The same for a database by the name of its dialect, for who makes a statement once."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
