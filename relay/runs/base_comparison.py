"""How the tests of a change did on its base: counted from the attempts on record, one query."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from relay.change_views import BaseComparison
from relay.contract import Observation, Tree
from relay.store.models import PlannedTest, TestAttempt

_FINE = (Observation.PASSED, Observation.SKIPPED)


def compare_with_base(session: Session, tests: ColumnElement[bool]) -> BaseComparison:
    """Of these planned tests."""
    fine = case((TestAttempt.observation.in_(_FINE), 1), else_=0)
    known = case((TestAttempt.reused, 1), else_=0)
    on_base = (
        select(
            TestAttempt.planned_test_id.label("test"),
            func.min(fine).label("least"),
            func.max(fine).label("most"),
            func.min(known).label("reused"),
        )
        .join(PlannedTest, PlannedTest.id == TestAttempt.planned_test_id)
        .where(tests, TestAttempt.tree == Tree.BASE)
        .group_by(TestAttempt.planned_test_id)
        .subquery()
    )
    head = case((PlannedTest.observation.in_(_FINE), 1), else_=0).label("head")
    # PostgreSQL takes an expression with parameters for another one when it is grouped by, so grouped are columns.
    told = select(head, on_base).join(on_base, on_base.c.test == PlannedTest.id).subquery()
    columns = (told.c.head, told.c.least, told.c.most, told.c.reused)
    rows = session.execute(select(*columns, func.count()).group_by(*columns))
    counts: Counter[str] = Counter()
    for with_change, least, most, reused, count in rows:
        counts["compared"] += count
        counts["reused"] += count if reused else 0
        counts[_kind(bool(with_change), bool(least), bool(most))] += count
    return BaseComparison(**counts)


def _kind(head: bool, base_always: bool, base_ever: bool) -> str:
    if base_always != base_ever:
        return "unsure"
    if base_always:
        return "fine" if head else "broken"
    return "fixed" if head else "failing"
