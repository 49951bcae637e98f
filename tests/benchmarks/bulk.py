"""Rows by the hundred thousand into a record, past the units of work: for seeding only.

Values go through the columns' own types, so that what is written is what the service would have written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Table, insert, text

_AT_ONCE = 20_000

Row = Mapping[str, Any]


class Written(bytes):
    """A document in its stored form already. Thousands of rows may share one that was compressed once."""


def write(connection: Connection, table: Table, rows: Iterable[Row]) -> int:
    """Write rows; columns that a row leaves out get their defaults. How many there were."""
    names = [column.name for column in table.columns]
    values = _values(connection, table, rows)
    if connection.dialect.name == "postgresql":
        return _copy(connection, table.name, names, values)
    statement = insert(table).compile(dialect=connection.dialect, column_keys=names)
    cursor = connection.connection.cursor()
    count = 0
    while chunk := list(islice(values, _AT_ONCE)):
        cursor.executemany(str(statement), chunk)
        count += len(chunk)
    cursor.close()
    return count


def _copy(connection: Connection, table: str, names: list[str], values: Iterator[tuple[Any, ...]]) -> int:
    count = 0
    cursor = connection.connection.cursor()
    columns = ", ".join(map(connection.dialect.identifier_preparer.quote, names))
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for count, row in enumerate(values, start=1):  # noqa: B007  # the last number is the answer
            copy.write_row(row)
    cursor.close()
    _go_on_counting(connection, table, names)
    return count


def _go_on_counting(connection: Connection, table: str, names: list[str]) -> None:
    """Ids were given, so the table's own counter starts after them."""
    if "id" in names:
        sequence = f"pg_get_serial_sequence('{table}', 'id')"
        connection.execute(text(f"SELECT setval({sequence}, (SELECT max(id) FROM {table}))"))  # noqa: S608  # our tables


def _values(connection: Connection, table: Table, rows: Iterable[Row]) -> Iterator[tuple[Any, ...]]:
    writers = [(column.name, _writer(connection, column), _default(column)) for column in table.columns]
    for row in rows:
        yield tuple(write(row[name] if name in row else default()) for name, write, default in writers)


def _writer(connection: Connection, column: Any) -> Callable[[Any], Any]:
    process = column.type.dialect_impl(connection.dialect).bind_processor(connection.dialect)
    if process is None:
        return _as_it_is
    return lambda value: value if isinstance(value, Written) else process(value)


def _as_it_is(value: Any) -> Any:
    return value


def _default(column: Any) -> Callable[[], Any]:
    default = column.default
    if default is None:
        return lambda: None
    return (lambda: default.arg(None)) if default.is_callable else (lambda: default.arg)
