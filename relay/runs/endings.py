"""How shards and runs end: the single place that gives tests without a report their outcome.

Every planned test gets exactly one verdict: from the first report (`relay.runs.reporting`), or from here when its
shard or its run ends without one.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from relay.contract import NOTHING_AFFECTED, NotTested, ShardKind
from relay.runs import shard_lines
from relay.runs.operators import forget_old_uses
from relay.runs.states import FINAL_SHARD_STATES, transition
from relay.runs.verdicts import JudgedTest, conclude
from relay.store.models import PlannedTest, Run, Shard, ShardState
from relay.views import RunState, Verdict


def open_tests(session: Session, shard: Shard) -> int:
    """How many tests of the shard have no verdict yet."""
    query = select(func.count()).where(PlannedTest.shard_id == shard.id, PlannedTest.verdict.is_(None))
    return session.scalar(query) or 0


def complete_shard(session: Session, shard: Shard, now: datetime, text: str) -> None:
    """End a leased shard whose work is all there."""
    _add_time(session, shard, now)
    transition(session, shard, ShardState.DONE, now, text, lease_expires_at=None, progress="", error="")


#: Leases of a shard that are given back without counting; a shard is no reason to go round for ever.
MOST_RETURNS = 50


def give_back(
    session: Session, shard: Shard, max_attempts: int, now: datetime, error: str, *, stopped: bool = False
) -> None:
    """A lease ended without the work: the shard is due again, or lost after `max_attempts` leases. A shard that only
    missed its goodbye is done. A lease does not count whose worker was stopped: machines that go are no fault of it."""
    if stopped and shard.returns < MOST_RETURNS:
        shard.returns += 1
        session.flush()
    most = max_attempts + shard.returns
    if shard.kind is ShardKind.TEST and not open_tests(session, shard):
        complete_shard(session, shard, now, shard_lines.done(shard.ordinal, ": all its tests are reported"))
    elif shard.attempt < most:
        _add_time(session, shard, now)
        text = shard_lines.due_again(shard.ordinal, shard.attempt, most, error)
        transition(session, shard, ShardState.DUE, now, text, lease_expires_at=None, progress="", error=error)
    else:
        text = shard_lines.given_up(shard.ordinal, shard.attempt, error)
        lose_shard(session, shard, now, text, error)


def lose_shard(session: Session, shard: Shard, now: datetime, text: str, error: str) -> None:
    """End a shard without its work: tests without a verdict get `infra`, which is ours and not the change's."""
    _add_time(session, shard, now)
    transition(session, shard, ShardState.LOST, now, text, lease_expires_at=None, progress="", error=error)
    session.execute(
        update(PlannedTest)
        .where(PlannedTest.shard_id == shard.id, PlannedTest.verdict.is_(None))
        .values(verdict=Verdict.INFRA, detail=f"Not run: {error}"),
        execution_options={"synchronize_session": False},
    )


def _add_time(session: Session, shard: Shard, now: datetime) -> None:
    """Before a lease ends: how long it took counts for the shard, and against the run's group in the queue."""
    if shard.state is not ShardState.LEASED or shard.leased_at is None:
        return
    seconds = max(0.0, (now - shard.leased_at).total_seconds())
    for statement in (
        update(Shard).where(Shard.id == shard.id).values(took_s=Shard.took_s + seconds),
        update(Run).where(Run.id == shard.run_id).values(served_s=Run.served_s + seconds),
    ):
        session.execute(statement, execution_options={"synchronize_session": False})


def call_off(session: Session, run: Run, to: RunState, now: datetime, reason: str) -> None:
    """End a run without a conclusion (`cancelled`, `failed`) together with the shards it still has."""
    query = select(Shard).where(Shard.run_id == run.id, Shard.state.not_in(FINAL_SHARD_STATES))
    for shard in session.scalars(query.order_by(Shard.ordinal)).all():
        lose_shard(session, shard, now, shard_lines.called_off(shard.ordinal), reason)
    transition(session, run, to, now, reason, headline=reason, finished_at=now)


def finish(session: Session, run: Run, now: datetime) -> None:
    """Conclude a run all of whose tests have a verdict, and keep what it has shown within bounds."""
    forget_old_uses(session, run.device)
    rows = session.execute(select(PlannedTest.expected, PlannedTest.verdict).where(PlannedTest.run_id == run.id))
    tests = [JudgedTest(expected, verdict) for expected, verdict in rows if verdict is not None]
    not_tested = NotTested.model_validate(run.not_tested) if run.not_tested else None
    affected = run.selection_state != NOTHING_AFFECTED
    conclusion, headline = conclude(tests, not_tested, affected=affected, release=run.release)
    transition(
        session, run, RunState.FINISHED, now, headline, conclusion=conclusion, headline=headline, finished_at=now
    )
