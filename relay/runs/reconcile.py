"""Where a run stands, decided anew from the record each time: every report, expiry and sweep ends in this function.

Level-triggered: lost, late, doubled and reordered messages need no code, because only what is in the record counts.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.contract import ShardKind
from relay.runs.endings import call_off, finish
from relay.runs.spans import run_traceparent
from relay.runs.states import FINAL_RUN_STATES, FINAL_SHARD_STATES
from relay.store.models import Run, Shard, ShardState
from relay.trail.tracing import span
from relay.views import RunState


def reconcile(session: Session, run: Run, now: datetime) -> None:
    """Move a run on as far as its shards allow. The caller holds the run's lock (`lock_run`)."""
    if run.state in FINAL_RUN_STATES:
        return
    with span("reconcile", run_traceparent(run), run=run.id):
        _move_on(session, run, now)


def _move_on(session: Session, run: Run, now: datetime) -> None:
    shards = session.scalars(select(Shard).where(Shard.run_id == run.id).order_by(Shard.ordinal)).all()
    lost_selection = next((s for s in shards if s.kind is ShardKind.SELECT and s.state is ShardState.LOST), None)
    if lost_selection is not None:
        reason = f"The tests could not be selected, after {lost_selection.attempt} attempts: {lost_selection.error}"
        call_off(session, run, RunState.FAILED, now, reason)
    elif run.state is RunState.RUNNING and all(shard.state in FINAL_SHARD_STATES for shard in shards):
        finish(session, run, now)
