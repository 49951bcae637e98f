"""What workers report: the selection, results, the end of a lease. Owns idempotency and the first-verdict rule.

A message is identified by (shard, lease, sequence). The same again is answered like the first time; the same identity
with another content is a conflict; a message of a lease that is not current is refused and changes nothing.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.contract import (
    Message,
    ResultsPosted,
    SelectionPosted,
    ShardFinished,
    ShardKind,
    ShardOutcome,
)
from relay.errors import BadMessageError, ConflictError
from relay.runs import shard_lines
from relay.runs.endings import complete_shard, give_back, open_tests
from relay.runs.holdout import note_misses
from relay.runs.leases import LeaseTerms, locked_shard, require_lease
from relay.runs.operators import record_uses
from relay.runs.planning import record_selection
from relay.runs.reconcile import reconcile
from relay.runs.reported_tests import fresh_outcomes, record_outcomes
from relay.runs.states import note
from relay.store.models import ResultBatch, Shard, ShardState
from relay.store.upsert import insert_into

_SELECTION_SEQUENCE = 0


def accept_selection(session: Session, shard_id: int, posted: SelectionPosted, now: datetime) -> None:
    """Record what a select shard found, plan its tests, and end the shard.

    Raises:
        NotFoundError: no such shard.
        LeaseLostError: the lease is not the shard's current one.
        ConflictError: this lease reported another selection before.
        BadMessageError: the shard selects nothing, or the report contradicts itself.
    """
    run, shard = locked_shard(session, shard_id)
    _require_kind(shard, ShardKind.SELECT)
    if _is_repeat(session, shard, posted.lease_id, _SELECTION_SEQUENCE, posted):
        return
    require_lease(shard, posted.lease_id)
    record_selection(session, run, posted.report, now)
    complete_shard(session, shard, now, shard_lines.selected(shard.lease_worker))
    reconcile(session, run, now)


def accept_results(session: Session, shard_id: int, posted: ResultsPosted, now: datetime) -> None:
    """Record the attempts at some tests and give each its verdict. A test that has a verdict keeps it.

    Raises:
        NotFoundError: no such shard.
        LeaseLostError: the lease is not the shard's current one.
        ConflictError: this lease used the sequence number for other results before.
        BadMessageError: a test is not of this shard, or is named twice.
    """
    run, shard = locked_shard(session, shard_id)
    _require_kind(shard, ShardKind.TEST)
    if _is_repeat(session, shard, posted.lease_id, posted.sequence, posted):
        return
    require_lease(shard, posted.lease_id)
    fresh = fresh_outcomes(session, shard, posted.results, run.device)
    record_outcomes(session, fresh)
    record_uses(session, run, ((outcome.test.base, outcome.result.operators) for outcome in fresh))
    note_misses(session, run, fresh, now)
    note(session, run.id, now, "tests.reported", shard_lines.reported(len(fresh), shard.ordinal))


def finish_shard(session: Session, shard_id: int, finished: ShardFinished, now: datetime, terms: LeaseTerms) -> bool:
    """End a lease. `done` is believed only when the work is all there; otherwise the shard is due again. Whether it is.

    Raises:
        NotFoundError: no such shard.
        LeaseLostError: the lease is not the shard's current one.
    """
    run, shard = locked_shard(session, shard_id)
    if shard.lease_id == finished.lease_id and shard.state is not ShardState.LEASED:
        return False  # the goodbye of the last holder, again or after its work was taken in
    require_lease(shard, finished.lease_id)
    error = _why_unfinished(session, shard, finished)
    if error:
        stopped = finished.outcome is ShardOutcome.STOPPED
        give_back(session, shard, terms.max_attempts, now, error, stopped=stopped)
    else:
        complete_shard(session, shard, now, shard_lines.done(shard.ordinal))
    reconcile(session, run, now)
    return shard.state is ShardState.DUE


def _why_unfinished(session: Session, shard: Shard, finished: ShardFinished) -> str:
    if finished.outcome is not ShardOutcome.DONE:
        return finished.error or "the worker gave no reason"
    if shard.kind is ShardKind.SELECT:
        return "the worker ended the shard without reporting a selection"
    missing = open_tests(session, shard)
    return f"the worker ended the shard with {missing} tests unreported" if missing else ""


def _is_repeat(session: Session, shard: Shard, lease_id: str, sequence: int, message: Message) -> bool:
    """Whether this message was taken in before. A new one of the current lease is noted as seen."""
    digest = hashlib.sha256(message.model_dump_json().encode()).hexdigest()
    identity = {"shard_id": shard.id, "lease_id": lease_id, "sequence": sequence}
    note_it = insert_into(session, ResultBatch).values(**identity, digest=digest).on_conflict_do_nothing()
    if session.scalar(note_it.returning(ResultBatch.id)) is not None:
        require_lease(shard, lease_id)  # else it was not noted: all of this is one transaction
        return False
    if session.scalar(select(ResultBatch.digest).filter_by(**identity)) != digest:
        raise ConflictError(
            f"Message {sequence} of this lease was reported before with other content.",
            "Send a repeat unchanged, and new content under the next sequence number.",
            code="sequence_conflict",
        )
    return True


def _require_kind(shard: Shard, kind: ShardKind) -> None:
    if shard.kind is not kind:
        raise BadMessageError(f"Shard {shard.id} is a {shard.kind} shard.", f"Only a {kind} shard takes this report.")
