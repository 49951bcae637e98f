"""The state machines of runs and shards as tables, and the one function that moves along them.

Every change of a state in the record goes through `transition`: it checks the table, compares and sets inside the
caller's transaction, and writes the line of history. Why a transition happens is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from relay.runs.event_log import log_after_commit
from relay.runs.spans import run_ended
from relay.store.many_rows import insert_rows
from relay.store.models import Run, RunEvent, Shard, ShardState
from relay.views import RunState

RUN_TRANSITIONS: Mapping[RunState, frozenset[RunState]] = {
    RunState.RECEIVED: frozenset({RunState.SELECTING, RunState.CANCELLED, RunState.FAILED}),
    RunState.SELECTING: frozenset({RunState.PLANNED, RunState.FINISHED, RunState.CANCELLED, RunState.FAILED}),
    RunState.PLANNED: frozenset({RunState.RUNNING, RunState.CANCELLED}),
    RunState.RUNNING: frozenset({RunState.FINISHED, RunState.CANCELLED}),
    RunState.FINISHED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.FAILED: frozenset(),
}

SHARD_TRANSITIONS: Mapping[ShardState, frozenset[ShardState]] = {
    ShardState.DUE: frozenset({ShardState.LEASED, ShardState.LOST}),
    ShardState.LEASED: frozenset({ShardState.DUE, ShardState.DONE, ShardState.LOST}),
    ShardState.DONE: frozenset(),
    ShardState.LOST: frozenset(),
}

FINAL_RUN_STATES = frozenset(state for state, after in RUN_TRANSITIONS.items() if not after)
FINAL_SHARD_STATES = frozenset(state for state, after in SHARD_TRANSITIONS.items() if not after)


class TransitionError(Exception):
    """A state could not be changed."""


class IllegalTransitionError(TransitionError):
    """The table has no such step: a bug in the caller."""


class StaleTransitionError(TransitionError):
    """Somebody else moved the record first: the caller re-reads and decides anew."""


def lock_run(session: Session, run_id: int) -> Run | None:
    """The run, locked until the transaction ends; None when there is no such run.

    Everything that changes a run, its shards or its tests takes this lock first, and several runs only in ascending
    order of their ids or one at a time, so that nobody waits in a circle. SQLite has one lock for all writers already.
    """
    if not is_row_id(run_id):
        return None
    return session.scalar(
        select(Run).where(Run.id == run_id).with_for_update().execution_options(populate_existing=True)
    )


def lock_run_of(session: Session, shard_id: int) -> Run | None:
    """The run of a shard, locked in the same way; None when there is no such shard."""
    if not is_row_id(shard_id):
        return None
    of_shard = select(Run).join(Shard, Shard.run_id == Run.id).where(Shard.id == shard_id)
    return session.scalar(of_shard.with_for_update(of=Run).execution_options(populate_existing=True))


def is_row_id(number: int) -> bool:
    """Whether a number from a URL can be an id at all: PostgreSQL refuses to compare larger ones."""
    return 0 < number < 2**31


def transition(
    session: Session, record: Run | Shard, to: RunState | ShardState, now: datetime, text: str, **changes: Any
) -> None:
    """Move `record` to `to` together with `changes`, and add `text` to the run's history.

    Raises:
        IllegalTransitionError: the state machine has no step from the present state to `to`.
        StaleTransitionError: the record is not in the state the caller knows any more.
    """
    if to not in _allowed(record):
        raise IllegalTransitionError(f"{_name(record)} cannot go from {record.state} to {to}")
    table = type(record)
    result = session.execute(
        update(table).where(table.id == record.id, table.state == record.state).values(state=to, **changes),
        execution_options={"synchronize_session": False},
    )
    if not isinstance(result, CursorResult) or result.rowcount != 1:
        raise StaleTransitionError(f"{_name(record)} is not {record.state} any more")
    session.refresh(record)
    kind = f"{_word(record)}.{to}"
    if isinstance(record, Run):
        note(session, record.id, now, kind, text)
        if to in FINAL_RUN_STATES:
            run_ended(session, record, now)
    else:
        note(session, record.run_id, now, kind, text, shard=record.id)


def note(session: Session, run_id: int, now: datetime, kind: str, text: str, **about: int) -> None:
    """Add a line to a run's history, and to the log. The caller holds the run's lock (`lock_run`). `about` are further
    ids for the log."""
    session.flush()
    insert_rows(session, RunEvent, [{"run_id": run_id, "at": now, "kind": kind, "text": text}])
    log_after_commit(session, kind, text, run=run_id, **about)


def _allowed(record: Run | Shard) -> frozenset[RunState] | frozenset[ShardState]:
    return RUN_TRANSITIONS[record.state] if isinstance(record, Run) else SHARD_TRANSITIONS[record.state]


def _word(record: Run | Shard) -> str:
    return "run" if isinstance(record, Run) else "shard"


def _name(record: Run | Shard) -> str:
    return f"{_word(record)} {record.id}"
