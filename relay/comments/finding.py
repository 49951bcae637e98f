"""Tests by the names that people use: a whole id, a base test, a file, a method. Reads only."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from relay.store.models import PlannedTest

#: Tests that one name, or several, may mean: as many as the API takes.
MOST = 500
#: Base tests among which a name that is not known is looked for; comparing takes a tenth of a millisecond each.
_COMPARED = 2_000
_NAME_CAP = 200


def planned_tests(session: Session, run_id: int, name: str) -> tuple[str, ...]:
    """The ids of a run's planned tests that a name means, at most `MOST` and one more. The most particular meaning
    counts: an id, else a base test, else a file, else a method of any class."""
    if "\0" in name:  # PostgreSQL refuses to compare with it
        return ()
    query = select(PlannedTest.test_id, PlannedTest.base, PlannedTest.file).where(
        PlannedTest.run_id == run_id, _may_mean(name)
    )
    rows = session.execute(query.order_by(PlannedTest.id).limit(MOST + 1)).all()
    for meaning in (
        [row.test_id for row in rows if row.test_id == name],
        [row.test_id for row in rows if row.base == name],
        [row.test_id for row in rows if row.file == name],
        # The database compares without letter case where it is SQLite.
        [row.test_id for row in rows if row.test_id.endswith(f"::{name}") or row.base.endswith(f"::{name}")],
    ):
        if meaning:
            return tuple(meaning)
    return ()


def nearest_tests(session: Session, run_id: int, name: str) -> tuple[str, ...]:
    """Base tests of a run that are called much like it, the nearest first, at most three."""
    query = select(PlannedTest.base).where(PlannedTest.run_id == run_id).distinct().limit(_COMPARED)
    return alike(name, session.scalars(query))


def alike(name: str, tests: Iterable[str]) -> tuple[str, ...]:
    """Those of these tests whose last part is called much like that of the name: the rest is mostly alike."""
    by_method: dict[str, str] = {}
    for test in tests:
        by_method.setdefault(test.rpartition("::")[2], test)
    wanted = name.rpartition("::")[2][:_NAME_CAP]
    return tuple(by_method[method] for method in get_close_matches(wanted, by_method, n=3, cutoff=0.7))


def _may_mean(name: str) -> ColumnElement[bool]:
    end = f"::{name}"
    return or_(
        PlannedTest.test_id == name,
        PlannedTest.base == name,
        PlannedTest.file == name,
        PlannedTest.test_id.endswith(end, autoescape=True),
        PlannedTest.base.endswith(end, autoescape=True),
    )
