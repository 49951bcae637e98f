"""Tests that ran by lot, and the misses they uncover: what the selection left out although the change broke it.

Owns what a miss in a run is and how it is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.contract import TestResult
from relay.runs.misses import remember_miss
from relay.runs.states import note
from relay.runs.verdicts import is_newly_broken
from relay.store.models import PlannedTest, Run


def note_misses(
    session: Session, run: Run, tests: Mapping[str, PlannedTest], results: Sequence[TestResult], now: datetime
) -> None:
    """Mark and remember the tests that ran by lot and that the change broke, each base test once. The caller holds the
    run's lock, and the tests have their verdicts."""
    missed = [tests[result.id] for result in results if _is_miss(tests[result.id], result)]
    if not missed:
        return
    for test in missed:
        test.missed = True
    for base in sorted({test.base for test in missed}):
        kept = remember_miss(session, run, base, "it ran by lot there, and broke", now)
        told = f"The selection had missed {base}: it ran by lot, and broke. {kept}"
        note(session, run.id, now, "selection.missed", told)


def missed_tests(session: Session, run_id: int) -> tuple[str, ...]:
    """The base tests whose breaking only the lot showed."""
    query = select(PlannedTest.base).where(PlannedTest.run_id == run_id, PlannedTest.missed)
    return tuple(session.scalars(query.distinct().order_by(PlannedTest.base)))


def _is_miss(test: PlannedTest, result: TestResult) -> bool:
    return test.by_lot and is_newly_broken(test.expected, test.verdict, result.attempts)
