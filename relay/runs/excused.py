"""What the newest runs saw of tests that a manifest excuses and that pass now. Reads only, in three queries.

What follows from it is decided by `relay.manifest_report`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.contract import Expected, Observation, Tree
from relay.store.models import PlannedTest, Run, Shard, TestAttempt, Trigger
from relay.views import RunState, Verdict

#: Runs looked at, the newest ones, and tests, those that passed most often.
RUNS, TESTS = 60, 50
_EXCUSED = (Expected.XFAIL, Expected.XFAIL_STRICT)


@dataclass(frozen=True, slots=True)
class ExcusedAttempt:
    """One attempt at one collected test; `base` is `file::Class::method`."""

    test_id: str
    file: str
    base: str
    observation: Observation
    run_id: int
    at: datetime
    machine: str


def excused_attempts(session: Session, device: str) -> Sequence[ExcusedAttempt]:
    """All attempts of the newest runs at the tests that are expected to fail and passed in one of them. A test that
    also ran on the base commit is read from there: a manifest says what holds without the change."""
    runs = _newest(session, device)
    passed = _passed(session, list(runs))
    columns = (PlannedTest.id, PlannedTest.test_id, PlannedTest.file, PlannedTest.base, PlannedTest.run_id)
    query = (
        select(*columns, TestAttempt.tree, TestAttempt.observation, Shard.lease_worker)
        .join(TestAttempt, TestAttempt.planned_test_id == PlannedTest.id)
        .join(Shard, Shard.id == PlannedTest.shard_id)
        .where(PlannedTest.test_id.in_(passed), PlannedTest.run_id.in_(runs), TestAttempt.reused.is_(False))
        .order_by(PlannedTest.id, TestAttempt.number)
    )
    found: list[ExcusedAttempt] = []
    for _, tries in groupby(session.execute(query), key=lambda row: row.id):
        attempts = list(tries)
        on_base = [row for row in attempts if row.tree is Tree.BASE]
        found += (
            ExcusedAttempt(
                *(row.test_id, row.file, row.base, row.observation),
                *(row.run_id, runs[row.run_id], row.lease_worker),
            )
            for row in on_base or attempts
        )
    return found


def _newest(session: Session, device: str) -> Mapping[int, datetime]:
    query = select(Run.id, Run.finished_at, Run.created_at).where(
        Run.device == device, Run.state == RunState.FINISHED, Run.trigger != Trigger.CONFIRM
    )
    rows = session.execute(query.order_by(Run.id.desc()).limit(RUNS))
    return {run_id: finished or created for run_id, finished, created in rows}


def _passed(session: Session, runs: Sequence[int]) -> Sequence[str]:
    query = (
        select(PlannedTest.test_id)
        .where(PlannedTest.run_id.in_(runs), PlannedTest.verdict == Verdict.XPASS, PlannedTest.expected.in_(_EXCUSED))
        .group_by(PlannedTest.test_id)
        .order_by(func.count().desc(), PlannedTest.test_id)
        .limit(TESTS)
    )
    return session.scalars(query).all()
