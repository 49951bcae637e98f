"""What both databases can compute about moments, each in its own words: whole seconds between two, the day of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Integer, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement


class WholeSeconds(FunctionElement[int]):
    """How many seconds the clock showed to pass, null when either is."""

    type = Integer()
    inherit_cache = True


class UtcDay(FunctionElement[str]):
    """The day of a moment in UTC, as `YYYY-MM-DD`."""

    type = String()
    inherit_cache = True


def _arguments(element: FunctionElement[Any], compiler: SQLCompiler, **options: Any) -> Sequence[str]:
    return [compiler.process(argument, **options) for argument in element.clauses]


@compiles(WholeSeconds, "sqlite")
def _seconds_sqlite(element: WholeSeconds, compiler: SQLCompiler, **options: Any) -> str:
    start, end = _arguments(element, compiler, **options)
    return f"(CAST(strftime('%s', {end}) AS INTEGER) - CAST(strftime('%s', {start}) AS INTEGER))"


@compiles(WholeSeconds, "postgresql")
def _seconds_postgresql(element: WholeSeconds, compiler: SQLCompiler, **options: Any) -> str:
    start, end = _arguments(element, compiler, **options)
    return f"CAST(FLOOR(EXTRACT(EPOCH FROM {end})) - FLOOR(EXTRACT(EPOCH FROM {start})) AS BIGINT)"


@compiles(UtcDay, "sqlite")
def _day_sqlite(element: UtcDay, compiler: SQLCompiler, **options: Any) -> str:
    (moment,) = _arguments(element, compiler, **options)
    return f"date({moment})"


@compiles(UtcDay, "postgresql")
def _day_postgresql(element: UtcDay, compiler: SQLCompiler, **options: Any) -> str:
    (moment,) = _arguments(element, compiler, **options)
    return f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
