"""Tests that ran by lot, and the misses they uncover: what the selection left out although the change broke it.

Owns what a miss in a run is and how it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.runs.misses import remember_miss
from relay.runs.reported_tests import Outcome
from relay.runs.states import note
from relay.runs.verdicts import is_newly_broken
from relay.store.many_rows import update_rows
from relay.store.models import PlannedTest, Run


def note_misses(session: Session, run: Run, outcomes: Sequence[Outcome], now: datetime) -> None:
    """Mark and remember the tests that ran by lot and that the change broke, each base test once. The caller holds the
    run's lock."""
    missed = [outcome.test for outcome in outcomes if _is_miss(outcome)]
    if not missed:
        return
    update_rows(session, PlannedTest, [{"id": test.id, "missed": True} for test in missed])
    for base in sorted({test.base for test in missed}):
        kept = remember_miss(session, run, base, "it ran by lot there, and broke", now)
        told = f"The selection had missed {base}: it ran by lot, and broke. {kept}"
        note(session, run.id, now, "selection.missed", told)


def missed_tests(session: Session, run_id: int) -> tuple[str, ...]:
    """The base tests whose breaking only the lot showed."""
    query = select(PlannedTest.base).where(PlannedTest.run_id == run_id, PlannedTest.missed)
    return tuple(session.scalars(query.distinct().order_by(PlannedTest.base)))


def _is_miss(outcome: Outcome) -> bool:
    test, verdict = outcome.test, outcome.judgement.verdict
    return test.by_lot and is_newly_broken(test.expected, verdict, outcome.result.attempts)
