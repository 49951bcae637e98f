"""How one test did, run by run, and since when it fails on the branch. Reads only, with a fixed number of queries.

A run of a pull request tells of its change, and of the branch only by what was seen on its base. So what a change
broke never counts as a failure of the branch, whoever runs it how often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.contract import Observation, Tree
from relay.errors import NotFoundError
from relay.runs.flakes import flake_rate
from relay.runs.verdicts import BREAKING
from relay.store.models import PlannedTest, Run, TestAttempt
from relay.views import BranchFailure, RunState, TestHistory, TestOutcome, Verdict

#: Runs that a failure is followed back through, and that the flake rate is counted from.
LOOKED_AT = 200
#: Newest finished runs whose tests can be found by a part of their names.
SEARCHED_RUNS = 10

_FINE = frozenset({Observation.PASSED, Observation.SKIPPED})
_FAILING = frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT})
#: Verdicts that say nothing of the branch, whatever was seen.
_MUTE = frozenset({Verdict.FLAKY, Verdict.INFRA})
#: Verdicts of a change's run without a look at the base, that nevertheless tell how the base does.
_TELLING = {Verdict.OK: True, Verdict.XPASS: True, Verdict.KNOWN_FAILURE: False}
#: What a reader without a question is shown first.
_TROUBLE = sorted(BREAKING | {Verdict.FLAKY})


@dataclass(frozen=True, slots=True)
class FoundTest:
    """A test of one of the newest runs, as the newest of them planned it."""

    id: str
    run_id: int
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class PlannedAs:
    """What the newest plan that has a test says about it, for readers who ask the manifests again. `detail` holds the
    test's last words there."""

    run_id: int
    base: str
    op: str
    dtype: str
    rule: str
    provenance: str
    detail: str


def history_of(session: Session, test_id: str, device: str, *, limit: int, before: int | None = None) -> TestHistory:
    """What the runs on record found out about a test, `before` that run.

    Raises:
        NotFoundError: no run on the device planned a test of this id.
    """
    newest = _outcomes(session, test_id, device, limit=LOOKED_AT)
    if not newest:
        raise NotFoundError(
            f"No run on {device} planned the test {test_id[:200]}.",
            "Give the whole id, as GET /api/v1/runs/{id}/tests and the page /tests show it.",
        )
    page = newest[: limit + 1]
    if before is not None or limit >= LOOKED_AT:
        page = _outcomes(session, test_id, device, limit=limit + 1, before=before)
    return TestHistory(
        test=test_id,
        device=device,
        outcomes=page[:limit],
        next_before=page[limit - 1].run_id if len(page) > limit else None,
        failing=branch_failure(newest),
        flakes=flake_rate(session, test_id, device, runs=LOOKED_AT),
    )


def branch_failure(outcomes: Sequence[TestOutcome]) -> BranchFailure | None:
    """Since when a test fails on the branch, by its outcomes, newest first; None when the newest that tells is fine."""
    first_bad, count = None, 0
    for outcome in outcomes:
        if outcome.on_branch is None:
            continue
        if outcome.on_branch:
            return BranchFailure(first_bad=first_bad, last_good=outcome, outcomes=count) if first_bad else None
        first_bad, count = outcome, count + 1
    return BranchFailure(first_bad=first_bad, last_good=None, outcomes=count) if first_bad else None


def planned_as(session: Session, test_id: str, device: str) -> PlannedAs | None:
    """What the newest plan says about a test; None when no run planned it."""
    newest = (
        select(PlannedTest)
        .join(Run, Run.id == PlannedTest.run_id)
        .where(PlannedTest.test_id == test_id, Run.device == device)
        .order_by(PlannedTest.run_id.desc())
        .limit(1)
    )
    row = session.scalar(newest)
    if row is None:
        return None
    return PlannedAs(row.run_id, row.base, row.op, row.dtype, row.rule, row.provenance, row.detail)


def find_tests(session: Session, device: str, part: str, *, limit: int, after: str = "") -> tuple[FoundTest, ...]:
    """Tests of the newest finished runs with `part` in their ids, in any letter case, by id: those `after` that one.
    Without a part those that broke or flaked there, newest first."""
    ended = select(Run.id).where(Run.device == device, Run.state == RunState.FINISHED)
    runs = session.scalars(ended.order_by(Run.id.desc()).limit(SEARCHED_RUNS)).all()
    wanted = PlannedTest.test_id.icontains(part, autoescape=True) if part else PlannedTest.verdict.in_(_TROUBLE)
    newest = func.max(PlannedTest.id).label("newest")
    order = (PlannedTest.test_id,) if part else (newest.desc(),)
    latest = (
        select(newest)
        .where(PlannedTest.run_id.in_(runs), wanted, PlannedTest.test_id > after)
        .group_by(PlannedTest.test_id)
        .order_by(*order)
        .limit(limit)
        .subquery()
    )
    columns = select(PlannedTest.test_id, PlannedTest.run_id, PlannedTest.verdict)
    rows = session.execute(
        columns.join(latest, latest.c.newest == PlannedTest.id).order_by(
            *((PlannedTest.test_id,) if part else (PlannedTest.id.desc(),))
        )
    )
    return tuple(FoundTest(*row) for row in rows)


def _outcomes(
    session: Session, test_id: str, device: str, *, limit: int, before: int | None = None
) -> tuple[TestOutcome, ...]:
    query = (
        select(
            *(PlannedTest.id, PlannedTest.expected, PlannedTest.verdict),
            *(PlannedTest.observation, PlannedTest.duration_s),
            *(Run.id.label("run_id"), Run.created_at, Run.repo, Run.pr_number, Run.title),
            *(Run.head_sha, Run.base_sha, Run.tested_base_sha, Run.trigger),
        )
        .join(Run, Run.id == PlannedTest.run_id)
        .where(PlannedTest.test_id == test_id, Run.device == device)
        .order_by(PlannedTest.run_id.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(PlannedTest.run_id < before)
    rows = session.execute(query).all()
    bases = _seen_on_base(session, [row.id for row in rows])
    return tuple(
        TestOutcome(
            run_id=row.run_id,
            at=row.created_at,
            repo=row.repo,
            pr_number=row.pr_number,
            title=row.title,
            head_sha=row.head_sha,
            base_sha=row.tested_base_sha or row.base_sha,
            trigger=row.trigger,
            expected=row.expected,
            verdict=row.verdict,
            observation=row.observation,
            seconds=row.duration_s,
            on_branch=_on_branch(row.pr_number, row.verdict, row.observation, bases.get(row.id)),
        )
        for row in rows
    )


def _seen_on_base(session: Session, planned: Sequence[int]) -> dict[int, set[Observation]]:
    attempts = select(TestAttempt.planned_test_id, TestAttempt.observation)
    found: dict[int, set[Observation]] = {}
    wanted = (TestAttempt.planned_test_id.in_(planned), TestAttempt.tree == Tree.BASE)
    for planned_id, seen in session.execute(attempts.where(*wanted)):
        found.setdefault(planned_id, set()).add(seen)
    return found


def _on_branch(
    pr_number: int | None,
    verdict: Verdict | None,
    seen: Observation | None,
    on_base: set[Observation] | None,
) -> bool | None:
    """What an outcome says of the branch: fine, failing, or nothing."""
    if pr_number is None:
        return None if verdict is None or verdict in _MUTE else _is_fine({seen})
    if on_base:
        return _is_fine(on_base)
    return None if verdict is None else _TELLING.get(verdict)


def _is_fine(seen: set[Observation] | set[Observation | None]) -> bool | None:
    if seen <= _FINE:
        return True
    return False if seen <= _FAILING else None
