"""The tests that a message of results names: found on record, judged, and written there, all of them at once.

Owns what a message may say of a shard's tests. Whether it may speak at all is `relay.runs.reporting`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.contract import Attempt, Expected, TestResult, Tree
from relay.errors import BadMessageError
from relay.runs.verdicts import Judgement, judge
from relay.store.many_rows import insert_rows, update_rows
from relay.store.models import PlannedTest, Shard, TestAttempt
from relay.views import Verdict

#: Of a message that names more the whole shard is read: its rows cost less than so many names do in a statement.
_NAMED_AT_MOST = 30


@dataclass(frozen=True, slots=True)
class ReportedTest:
    """A planned test as it was before its result. `verdict`: it has one already, and keeps it."""

    id: int
    test_id: str
    base: str
    expected: Expected
    by_lot: bool
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A test, what was reported of it, and what that means."""

    test: ReportedTest
    result: TestResult
    judgement: Judgement


def fresh_outcomes(session: Session, shard: Shard, results: Sequence[TestResult], device: str) -> list[Outcome]:
    """What the results mean on a device, of those tests that have no verdict yet.

    Raises:
        BadMessageError: a result names no test of the shard, one is named twice, or attempts cannot be told apart.
    """
    tests = _tests_of(session, shard, results)
    return [
        Outcome(test, result, judge(test.expected, result.attempts, device))
        for result in results
        if (test := tests[result.id]).verdict is None
    ]


def record_outcomes(session: Session, outcomes: Iterable[Outcome]) -> None:
    """Write verdicts and attempts. The caller holds the run's lock."""
    told = list(outcomes)
    update_rows(session, PlannedTest, [_verdict(outcome.test, outcome.judgement) for outcome in told])
    attempts = [_attempt(outcome.test, attempt) for outcome in told for attempt in outcome.result.attempts]
    insert_rows(session, TestAttempt, attempts)


def _verdict(test: ReportedTest, judgement: Judgement) -> dict[str, Any]:
    return {
        "id": test.id,
        "verdict": judgement.verdict,
        "observation": judgement.observation,
        "detail": judgement.detail,
        "duration_s": judgement.duration_s,
    }


def _attempt(test: ReportedTest, attempt: Attempt) -> dict[str, Any]:
    return {
        "planned_test_id": test.id,
        "tree": attempt.tree,
        "number": attempt.number,
        "observation": attempt.observation,
        "duration_s": attempt.duration_s,
        "detail": attempt.detail,
        "reused": attempt.reused,
    }


def _tests_of(session: Session, shard: Shard, results: Sequence[TestResult]) -> dict[str, ReportedTest]:
    """The named tests of a shard, by id; each result must name one, and each attempt of a result must be another."""
    names = [result.id for result in results]
    tests = _find(session, shard, names)
    unknown = [name for name in names if name not in tests]
    if unknown:
        raise BadMessageError(
            f"{len(unknown)} results are for tests outside shard {shard.id}, the first is {unknown[0][:200]!r}.",
            "Report exactly the tests of the lease.",
        )
    if len(set(names)) != len(names):
        raise BadMessageError("A test is reported twice in one message.", "Send one result per test.")
    for result in results:
        tries = [(attempt.tree, attempt.number) for attempt in result.attempts]
        if len(set(tries)) != len(tries) or all(tree is Tree.BASE for tree, _ in tries):
            raise BadMessageError(
                f"The attempts at {result.id[:200]!r} cannot be told apart, or none is on head.",
                "Number the attempts per tree and run the test on head.",
            )
    return tests


def _find(session: Session, shard: Shard, names: Sequence[str]) -> dict[str, ReportedTest]:
    columns = (PlannedTest.id, PlannedTest.test_id, PlannedTest.base, PlannedTest.expected, PlannedTest.by_lot)
    query = select(*columns, PlannedTest.verdict).where(PlannedTest.shard_id == shard.id)
    if len(names) <= _NAMED_AT_MOST:
        query = query.where(PlannedTest.run_id == shard.run_id, PlannedTest.test_id.in_(names))
    return {row.test_id: ReportedTest(*row) for row in session.execute(query)}
