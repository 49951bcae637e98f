"""How good the selections were: by audits, by the lot, and by what they left out. Reads only, in a fixed number of
queries however many audits and runs there are.

What an audit is, and when a selection missed a test, is `relay.runs.audits`' matter; here the same is counted for many
audits at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Row, and_, case, func, select
from sqlalchemy.orm import Session, aliased

from relay.contract import Expected, Observation, Tree
from relay.quality_views import AuditFigures, DayFigures, LotFigures, QualityView
from relay.runs.audits import SETTLED
from relay.runs.verdicts import BREAKING
from relay.store.models import PlannedTest, Run, RunEvent, Selection, TestAttempt, Trigger
from relay.store.sql import UtcDay
from relay.views import RunState

#: Audits looked at, the newest ones; one a day is a year and more.
MOST_AUDITS = 400
_NO_CHANGE = (Trigger.AUDIT, Trigger.CONFIRM)

_AuditRow = Row[int, str, str, datetime, bool]


@dataclass(frozen=True, slots=True)
class _Broken:
    """A test that an audit found newly broken, with the last runs before it that reported it, or missed it by lot."""

    audit: int
    test: str
    reported_in: int | None
    missed_in: int | None


def quality(session: Session, device: str, now: datetime, *, days: int) -> QualityView:
    """The figures of the last `days` on a device."""
    since = now - timedelta(days=days)
    return QualityView(
        device=device,
        days=days,
        audits=tuple(_audits(session, device, since)),
        selections=_selections(session, device, since),
        lot=_lot(session, device, since),
    )


def _audits(session: Session, device: str, since: datetime) -> Sequence[AuditFigures]:
    settled = select(RunEvent.id).where(RunEvent.run_id == Run.id, RunEvent.kind == SETTLED).exists()
    query = select(Run.id, Run.base_sha, Run.head_sha, Run.created_at, settled).where(
        Run.trigger == Trigger.AUDIT, Run.device == device
    )
    rows = session.execute(query.order_by(Run.id.desc()).limit(MOST_AUDITS)).all()
    wanted = [row for row in rows if row[4] and row.created_at >= since]
    if not wanted:
        return ()
    firsts = _first_pushes(session, device, rows)
    broken = _broken(session, device, [row.id for row in wanted])
    confirmed = _confirmed(session, wanted[-1].id)
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for test in broken:
        first = firsts[test.audit]
        caught = test.reported_in is not None and test.reported_in >= first
        drawn = test.missed_in is not None and test.missed_in >= first
        missed = not caught and (drawn or (test.audit, test.test) in confirmed)
        counted[test.audit].update(broken=1, caught=caught, missed=missed)
    return [AuditFigures(id=row.id, at=row.created_at, **_counts(counted[row.id])) for row in reversed(wanted)]


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {name: counter[name] for name in ("broken", "caught", "missed")}


def _first_pushes(session: Session, device: str, audits: Sequence[_AuditRow]) -> Mapping[int, int]:
    """For each audit the first run that it judges: that of the push which began where its base is; else the audit that
    ended there."""
    push = (Run.trigger == Trigger.WEBHOOK, Run.pr_number.is_(None), Run.device == device)
    query = select(Run.base_sha, func.min(Run.id)).where(*push, Run.base_sha.in_({row.base_sha for row in audits}))
    began = dict(session.execute(query.group_by(Run.base_sha)).all())
    firsts = {}
    for row in audits:
        before = max((one.id for one in audits if one.head_sha == row.base_sha and one.id < row.id), default=0)
        start = began.get(row.base_sha, row.id)
        firsts[row.id] = start if start < row.id else before
    return firsts


def _broken(session: Session, device: str, audits: Sequence[int]) -> Sequence[_Broken]:
    seen, run = aliased(PlannedTest), aliased(Run)
    reported = and_(run.trigger.not_in(_NO_CHANGE), seen.by_lot.is_(False))
    earlier = (
        select(seen.test_id, seen.run_id, seen.missed, reported.label("reported"))
        .join(run, run.id == seen.run_id)
        .where(run.device == device, run.trigger != Trigger.AUDIT, seen.verdict.in_(sorted(BREAKING)))
    ).subquery()
    query = (
        select(
            PlannedTest.run_id,
            PlannedTest.test_id,
            func.max(case((earlier.c.reported, earlier.c.run_id))),
            func.max(case((earlier.c.missed, earlier.c.run_id))),
        )
        .outerjoin(earlier, and_(earlier.c.test_id == PlannedTest.test_id, earlier.c.run_id < PlannedTest.run_id))
        .where(PlannedTest.run_id.in_(audits), _newly_broken())
        .group_by(PlannedTest.run_id, PlannedTest.test_id)
    )
    return [_Broken(*row) for row in session.execute(query)]


def _confirmed(session: Session, oldest: int) -> frozenset[tuple[int, str]]:
    """Audit and test, where a run that was asked whether its change broke the test said so."""
    query = (
        select(Run.identity, PlannedTest.test_id)
        .join(PlannedTest, PlannedTest.run_id == Run.id)
        .where(Run.trigger == Trigger.CONFIRM, Run.state == RunState.FINISHED, Run.id > oldest, _newly_broken())
    )
    # The identity of such a run begins with `confirm:` and the audit's number (`relay.runs.audits`).
    return frozenset((int(identity.split(":")[1]), test) for identity, test in session.execute(query))


def _newly_broken() -> ColumnElement[bool]:
    """`relay.runs.verdicts.is_newly_broken` for the database: it had to pass, and every attempt on base did."""
    on_base = select(TestAttempt.id).where(TestAttempt.planned_test_id == PlannedTest.id, TestAttempt.tree == Tree.BASE)
    return and_(
        PlannedTest.verdict.in_(sorted(BREAKING)),
        PlannedTest.expected == Expected.MANDATORY_SUCCESS,
        on_base.exists(),
        ~on_base.where(TestAttempt.observation != Observation.PASSED).exists(),
    )


def _selections(session: Session, device: str, since: datetime) -> tuple[DayFigures, ...]:
    day = UtcDay(Run.created_at)
    query = (
        select(
            *(day, func.count(), func.sum(Selection.kept), func.sum(Selection.dropped)),
            *(func.sum(Selection.expected_seconds), func.sum(Selection.seconds_saved)),
        )
        .join(Selection, Selection.run_id == Run.id)
        .where(*_chosen(device, since))
        .group_by(day)
        .order_by(day)
    )
    return tuple(
        DayFigures(day=at, selections=count, kept=kept, dropped=dropped, expected_seconds=expected, seconds_saved=saved)
        for at, count, kept, dropped, expected, saved in session.execute(query)
    )


def _lot(session: Session, device: str, since: datetime) -> LotFigures:
    query = (
        # Counting verdicts leaves out what is not reported. Asked for in WHERE, SQLite would look for verdicts first.
        select(func.count(PlannedTest.verdict), func.coalesce(func.sum(case((PlannedTest.missed, 1), else_=0)), 0))
        .join(Run, Run.id == PlannedTest.run_id)
        .where(PlannedTest.by_lot, *_chosen(device, since))
    )
    drawn, missed = session.execute(query).one()
    return LotFigures(drawn=drawn, missed=missed)


def _chosen(device: str, since: datetime) -> Sequence[ColumnElement[bool]]:
    """Runs for which tests were chosen: not those that ran everything, and not those that were told what to run."""
    return (
        *(Run.device == device, Run.created_at >= since, Run.full == "", Run.not_tested.is_(None)),
        *(Run.trigger.not_in(_NO_CHANGE), Run.rerun_of.is_(None)),
    )
