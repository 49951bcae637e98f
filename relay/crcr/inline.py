"""The strict mode's way of telling backends: while the webhook waits, one try each, like the original.

Its letters are rows of the outbox as everywhere, so that a process which dies on the way loses none.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from relay.context import RelayContext
from relay.crcr.dispatch_plan import INLINE_HEAD_START_S, dispatches_of, told
from relay.crcr.dispatching import senders
from relay.outbox.delivering import Deliverer
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.retrying import RetryTerms
from relay.outbox.types import Ending, Sent
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState

_RECORDED = "the dispatch is recorded already"
_UNSENT = "nobody could send it just now: the relay has no GitHub App, or another process holds the letter"


def ask_again(session: Session, delivery_id: str, now: datetime) -> None:
    """Put in one more letter for every backend of a delivery that came again: the original tells them all again."""
    items = []
    for one in dispatches_of(session, delivery_id):
        key = f"dispatch/{delivery_id}/{one.repo_key}/{secrets.token_hex(8)}"
        items.append(NewItem(OutboxKind.DISPATCH, key, key, one.repo, {}, dispatch_id=one.id))
    enqueue_all(session, items, now, due_at=now + timedelta(seconds=INLINE_HEAD_START_S))


def dispatch_inline(context: RelayContext, delivery_id: str) -> dict[str, Any]:
    """Send the open letters of a delivery now; the original's answer. A backend that had been told before counts as
    failed, because the original could not record it twice."""
    with context.store.reading() as session:
        before = {one.id: one.state for one in dispatches_of(session, delivery_id)}
        letters = _open_letters(session, tuple(before))
    endings = _send(context, tuple(letters))
    sent = {letters[item] for item, ending in endings.items() if isinstance(ending, Sent)}
    with context.store.writing() as session:
        # One that had failed, or failed now, is not what the original has a record of.
        lost = [one for one in before if one not in sent and before[one] is not DispatchState.DISPATCHED]
        unsent = (Dispatch.id.in_(lost), Dispatch.state == DispatchState.QUEUED)
        session.execute(update(Dispatch).where(*unsent).values(state=DispatchState.FAILED, reason=_UNSENT))
    with context.store.reading() as session:
        return _answer(dispatches_of(session, delivery_id), before)


def _open_letters(session: Session, dispatches: Sequence[int]) -> Mapping[int, int]:
    """Outbox row -> dispatch."""
    mine = (OutboxItem.dispatch_id.in_(dispatches), OutboxItem.kind == OutboxKind.DISPATCH)
    rows = session.scalars(select(OutboxItem).where(*mine, OutboxItem.state == OutboxState.DUE))
    return {row.id: row.dispatch_id for row in rows if row.dispatch_id is not None}


def _send(context: RelayContext, ids: Sequence[int]) -> Mapping[int, Ending]:
    deliverer = Deliverer(
        context.store,
        {kind: sender for kind, sender in senders(context).items() if kind is OutboxKind.DISPATCH},
        context.now,
        context.settings.crcr_dispatch_workers,
        terms=RetryTerms(max_attempts=1),
    )
    return deliverer.deliver_now(ids)


def _answer(dispatches: Sequence[Dispatch], before: Mapping[int, DispatchState]) -> dict[str, Any]:
    answer = told(dispatches)
    del answer["queued"]
    again = {one.repo for one in dispatches if before[one.id] is DispatchState.DISPATCHED}
    answer["dispatched"] = [entry for entry in answer["dispatched"] if entry["repo"] not in again]
    answer["failed"] += [{"repo": repo, "error": f"GitHub dispatch failed: {_RECORDED}"} for repo in sorted(again)]
    return answer
