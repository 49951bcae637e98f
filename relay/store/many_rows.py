"""Many rows in one statement, past the objects that stand for single rows: results come by the hundred.

Owns how each database takes them quickest. PostgreSQL reads a whole batch from one JSON document, where statement by
statement each row would cost a message of its own; SQLite, in our own process, takes one statement again and again.
Values go through the columns' own types, so that they are cut and spelt as everywhere.
Source: https://www.postgresql.org/docs/current/functions-json.html (`json_to_recordset`)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

import sqlalchemy
from sqlalchemy import Dialect, Insert, String, Table, TableValuedAlias, Update, bindparam, column, func, insert, update
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from relay.store.models import Base

Row = Mapping[str, Any]
_KEY, _GIVEN_KEY, _ROWS = "id", "given_id", "given_rows"


def insert_rows(session: Session, model: type[Base], rows: Sequence[Row]) -> None:
    """Add rows that all name the same columns, and every one of those that has no default of the database's own."""
    if not rows:
        return
    table, names = _table(model), tuple(rows[0])
    connection = session.connection()
    if connection.dialect.name == "postgresql" and len(rows) > 1:
        connection.execute(_insert_from_json(table, names), _document(connection.dialect, table, names, rows))
    else:
        connection.execute(insert(table), rows)


def insert_rows_for_ids(session: Session, model: type[Base], rows: Sequence[Row]) -> Sequence[int]:
    """Add rows that all name the same columns; their ids, in the order of the rows."""
    if not rows:
        return ()
    return session.connection().scalars(_insert_for_ids(_table(model)), rows).all()


def update_rows(session: Session, model: type[Base], rows: Sequence[Row]) -> None:
    """Change rows by their `id`; all name the same columns. Objects of the session that stand for one of them do not
    see it."""
    if not rows:
        return
    table, names = _table(model), tuple(rows[0])
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(_update_from_json(table, names), _document(connection.dialect, table, names, rows))
    else:
        connection.execute(_update_each(table, names), [{**row, _GIVEN_KEY: row[_KEY]} for row in rows])


def _table(model: type[Base]) -> Table:
    return cast("Table", model.__table__)


def _document(dialect: Dialect, table: Table, names: Sequence[str], rows: Iterable[Row]) -> dict[str, str]:
    writers = [(name, table.columns[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names]
    plain = [{name: row[name] if write is None else write(row[name]) for name, write in writers} for row in rows]
    return {_ROWS: json.dumps(plain)}


@cache
def _insert_for_ids(table: Table) -> ReturningInsert[int]:
    return insert(table).returning(table.c[_KEY], sort_by_parameter_order=True)


@cache
def _insert_from_json(table: Table, names: tuple[str, ...]) -> Insert:
    given = _given(table, names)
    return insert(table).from_select(
        list(names), sqlalchemy.select(*(given.c[name] for name in names)), include_defaults=False
    )


@cache
def _update_from_json(table: Table, names: tuple[str, ...]) -> Update:
    given = _given(table, names)
    changes = {name: given.c[name] for name in names if name != _KEY}
    return update(table).where(table.c[_KEY] == given.c[_KEY]).values(changes)


@cache
def _update_each(table: Table, names: tuple[str, ...]) -> Update:
    changes: dict[str, Any] = {name: bindparam(name) for name in names if name != _KEY}
    return update(table).where(table.c[_KEY] == bindparam(_GIVEN_KEY)).values(changes)


def _given(table: Table, names: Sequence[str]) -> TableValuedAlias:
    columns = [column(name, table.columns[name].type) for name in names]
    document = sqlalchemy.cast(bindparam(_ROWS, type_=String()), JSON)
    return func.json_to_recordset(document).table_valued(*columns).render_derived(with_types=True)
