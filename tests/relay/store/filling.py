"""Rows for every table of a record, whatever its version: what a column may hold is read from the database itself."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy.orm import Session

import relay.store
from relay.store.models import Base

for _module in pkgutil.iter_modules(relay.store.__path__):
    if _module.name.endswith("models"):
        importlib.import_module(f"relay.store.{_module.name}")

#: A moment that both databases keep as it is.
_AT = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
_REVISION_TABLE = "alembic_version"
Row = Mapping[str, Any]


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", "relay.store:migrations")
    return made


def revisions() -> list[str]:
    """All versions of the schema, the oldest first."""
    return [step.revision for step in reversed(list(ScriptDirectory.from_config(config()).walk_revisions()))]


def go(engine: sa.Engine, revision: str) -> None:
    """Take the schema to a version, up or down."""
    order = ["base", *revisions()]
    with engine.begin() as connection:
        chosen = config()
        chosen.attributes["connection"] = connection
        now = version(connection)
        direction = command.upgrade if order.index(revision) > order.index(now) else command.downgrade
        direction(chosen, revision)


def version(connection: sa.Connection) -> str:
    """The version of the schema, "base" before the first."""
    if not sa.inspect(connection).has_table(_REVISION_TABLE):
        return "base"
    return connection.scalar(sa.select(sa.column("version_num")).select_from(sa.table(_REVISION_TABLE))) or "base"


def tables(engine: sa.Engine) -> Sequence[sa.Table]:
    """The tables that are there now, those that others refer to first."""
    found = sa.MetaData()
    found.reflect(engine)
    return [table for table in found.sorted_tables if table.name != _REVISION_TABLE]


def fill(engine: sa.Engine, mark: str, *, every_word: bool = False) -> None:
    """Put rows into every table; `mark` keeps them apart from those of another time. `every_word`: at least one row for
    each word of each vocabulary."""
    with engine.begin() as connection:
        for table in tables(engine):
            for number in range(_rows(table) if every_word else 2):
                connection.execute(table.insert(), _row(connection, table, f"{mark}-{number}", number))


def _rows(table: sa.Table) -> int:
    return max(2, *(len(_words(column)) for column in table.columns))


def _row(connection: sa.Connection, table: sa.Table, mark: str, number: int) -> dict[str, Any]:
    """A value for each column but for the number that the database gives."""
    given = table.primary_key.columns.values()
    own = given[0] if len(given) == 1 and isinstance(given[0].type, sa.Integer) and not given[0].foreign_keys else None
    return {column.name: _value(connection, column, mark, number) for column in table.columns if column is not own}


def _value(connection: sa.Connection, column: sa.Column[Any], mark: str, number: int) -> Any:
    for key in column.foreign_keys:
        target = key.column
        return connection.scalar(sa.select(target).order_by(target.desc()).offset(number % 2).limit(1))
    if words := _words(column):
        return words[number % len(words)]
    if isinstance(column.type, sa.String):
        return mark if column.type.length is None else mark[-column.type.length :]
    if isinstance(column.type, sa.Integer):
        return 10_000 * int(mark.partition("-")[0]) + number
    return _plain(column.type, number)


def _plain(kind: sa.types.TypeEngine[Any], number: int) -> Any:
    """Something of a type, alike on both databases."""
    choices: list[tuple[type[sa.types.TypeEngine[Any]], Any]] = [
        (sa.Boolean, number % 2 == 0),
        (sa.DateTime, _AT + timedelta(seconds=number)),
        (sa.JSON, {"written": [number, "ü"]}),
        (sa.LargeBinary, zlib.compress(b"[]")),
        (sa.Float, number + 0.5),
    ]
    for known, value in choices:
        if isinstance(kind, known):
            return value
    raise AssertionError(f"no value for a column of the type {kind!r}: name one here")


def _words(column: sa.Column[Any]) -> Sequence[str]:
    """The words that the newest model allows in a column."""
    model = Base.metadata.tables.get(column.table.name)
    declared = None if model is None else model.columns.get(column.name)
    return declared.type.enums if declared is not None and isinstance(declared.type, sa.Enum) else ()


def content(engine: sa.Engine) -> dict[str, list[Row]]:
    """All rows of all tables, in the order of their keys."""
    with engine.connect() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(_in_order(table)).mappings()]
            for table in tables(engine)
        }


def _in_order(table: sa.Table) -> sa.Select[Any]:
    return sa.select(table).order_by(*table.primary_key.columns)


def read_with_models(engine: sa.Engine) -> Iterator[tuple[str, int]]:
    """Have the newest models read every row; how many each found."""
    with Session(engine) as session:
        for mapper in Base.registry.mappers:
            yield str(mapper.local_table), len(session.scalars(sa.select(mapper.class_)).all())
