"""Many rows at once are written as one by one: each database gets them its own way, with the same values."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.contract import Expected, Observation, Tree
from relay.store.engine import Store
from relay.store.many_rows import insert_rows, insert_rows_for_ids, update_rows
from relay.store.models import PlannedTest, TestAttempt
from relay.views import Verdict
from tests.benchmarks.load_work import add_planned_runs

_TEXTS = (
    "",
    'it\'s "quoted" \\ {json}',
    "\N{SNOWMAN} \N{GRINNING FACE}",
    "a\0b",
    "\ud800",
    "line\nand\ttab",
    "x" * 9_000,
)


@pytest.fixture
def tests(store: Store) -> list[int]:
    """Planned tests, by id."""
    add_planned_runs(store, count(1), len(_TEXTS), shards_in_a_run=1)
    with store.reading() as session:
        return list(session.scalars(select(PlannedTest.id).order_by(PlannedTest.id).limit(len(_TEXTS))))


def _attempt(test: int, detail: str) -> dict[str, Any]:
    fields = {"tree": Tree.HEAD, "number": 1, "observation": Observation.TIMED_OUT, "duration_s": 0.1 + test / 3}
    return {"planned_test_id": test, **fields, "detail": detail, "reused": True}


def test_rows_are_written_as_objects_would_be(store: Store, tests: list[int]) -> None:
    rows = [_attempt(test, detail) for test, detail in zip(tests, _TEXTS, strict=True)]
    with store.writing() as session:
        insert_rows(session, TestAttempt, rows)
        session.add_all(TestAttempt(**row | {"number": 2}) for row in rows)
    with store.reading() as session:
        pairs = [_pair(session, test) for test in tests]
    assert all(many == one for many, one in pairs)
    assert [many[-1] for many, _ in pairs] == [True] * len(tests)


def _pair(session: Session, test: int) -> list[tuple[object, ...]]:
    columns = (
        TestAttempt.tree,
        TestAttempt.observation,
        TestAttempt.duration_s,
        TestAttempt.detail,
        TestAttempt.reused,
    )
    query = select(*columns).where(TestAttempt.planned_test_id == test).order_by(TestAttempt.number)
    return [tuple(row) for row in session.execute(query)]


def test_each_row_is_changed_by_its_id_and_no_other(store: Store, tests: list[int]) -> None:
    changed = tests[:-1]
    rows = [
        {"id": test, "verdict": Verdict.CRASH if number else None, "detail": f"{number}", "duration_s": float(number)}
        for number, test in enumerate(changed)
    ]
    with store.writing() as session:
        update_rows(session, PlannedTest, rows)
    with store.reading() as session:
        found = session.scalars(select(PlannedTest).order_by(PlannedTest.id)).all()
    told = [(test.verdict, test.detail, test.duration_s) for test in found]
    assert told[: len(rows)] == [(row["verdict"], row["detail"], row["duration_s"]) for row in rows]
    assert set(told[len(rows) :]) == {(None, "", None)}
    assert {test.expected for test in found} == {Expected.MANDATORY_SUCCESS}


def test_each_id_is_that_of_its_row_also_over_several_statements(store: Store, tests: list[int]) -> None:
    rows = [_attempt(tests[0], f"row {number}") | {"number": number} for number in range(1, 2_501)]
    with store.writing() as session:
        ids = insert_rows_for_ids(session, TestAttempt, rows)
    with store.reading() as session:
        kept = {row.id: row.number for row in session.execute(select(TestAttempt.id, TestAttempt.number))}
    assert [kept[row_id] for row_id in ids] == list(range(1, 2_501))


def test_no_rows_are_no_work(store: Store, tests: list[int]) -> None:
    with store.writing() as session:
        insert_rows(session, TestAttempt, [])
        assert insert_rows_for_ids(session, TestAttempt, []) == ()
        update_rows(session, PlannedTest, [])
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(TestAttempt)) == 0
        assert session.scalar(select(func.count()).where(PlannedTest.verdict.is_not(None))) == 0
