"""Who is told of a delivery: decided once, when the delivery comes, and written down with a letter for each backend.

A delivery that comes again decides nothing anew; it only has those told whom the first one could not reach. Works in
the caller's transaction and sends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Backend, Level, Participation
from relay.crcr.asked import Incoming
from relay.crcr.check_runs import Wish, wish
from relay.crcr.labels import PREFIX
from relay.crcr.nonce import new_nonce
from relay.crcr.pr_context import UpstreamContext, label_names, upstream_context
from relay.crcr.supersede import supersede
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.replay import replay
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind, OutboxState
from relay.store.many_rows import insert_rows_for_ids

#: How long the background leaves letters alone that the strict mode sends while the webhook waits: if that process
#: dies, they are sent all the same.
INLINE_HEAD_START_S = 120.0

_LISTS = {
    DispatchState.DISPATCHED: "dispatched",
    DispatchState.FAILED: "failed",
    DispatchState.WITHDRAWN: "failed",
    DispatchState.QUEUED: "queued",
}


@dataclass(frozen=True, slots=True)
class Planned:
    """A dispatch that was decided just now."""

    repo: str
    state: DispatchState = DispatchState.QUEUED
    reason: str = ""


def plan_dispatches(
    session: Session, settings: RelaySettings, incoming: Incoming, allowlist: Allowlist, now: datetime
) -> Sequence[Planned]:
    """Decide whom to tell of a new delivery, and put the letters into the outbox."""
    context = upstream_context(incoming.event, incoming.payload)
    backends = allowlist.taking_part_in(Participation.PULL_REQUEST)
    strict = settings.crcr_strict_compat
    # Past the objects that stand for rows: making them takes longer than all else, and somebody waits.
    rows = [_dispatch(settings, incoming, context, backend, now) for backend in backends]
    ids = insert_rows_for_ids(session, Dispatch, rows)
    items = [
        _letter(row, backend, incoming, context, strict=strict) for row, backend in zip(ids, backends, strict=True)
    ]
    enqueue_all(session, items, now, due_at=now + timedelta(seconds=INLINE_HEAD_START_S) if strict else None)
    _wish_checks(session, settings, incoming, backends, now)
    if incoming.event == "pull_request":
        supersede(session, settings, incoming.payload, now)
    return [Planned(backend.repo) for backend in backends]


def retry_failed(session: Session, delivery_id: str, now: datetime) -> Sequence[Dispatch]:
    """Have those told again whom the first delivery could not reach. All dispatches of the delivery."""
    failed = select(Dispatch.id).where(Dispatch.delivery_id == delivery_id, Dispatch.state == DispatchState.FAILED)
    dead = select(OutboxItem.id).where(
        OutboxItem.dispatch_id.in_(failed),
        OutboxItem.kind == OutboxKind.DISPATCH,
        OutboxItem.state == OutboxState.DEAD,
    )
    found = session.scalars(dead).all()
    # Only of the letters that we wake: another one may have been woken and sent by somebody else meanwhile.
    again = replay(session, found, now) if found else ()
    if again:
        theirs = select(OutboxItem.dispatch_id).where(OutboxItem.id.in_(again))
        waiting = update(Dispatch).where(Dispatch.id.in_(theirs), Dispatch.state == DispatchState.FAILED)
        session.execute(waiting.values(state=DispatchState.QUEUED, reason=""))
    return dispatches_of(session, delivery_id)


def dispatches_of(session: Session, delivery_id: str) -> Sequence[Dispatch]:
    """The dispatches of a delivery, in the allowlist's order when it came."""
    return session.scalars(select(Dispatch).where(Dispatch.delivery_id == delivery_id).order_by(Dispatch.id)).all()


def told(dispatches: Sequence[Dispatch | Planned]) -> dict[str, Any]:
    """The answer to a webhook: where each backend's dispatch stands."""
    answer: dict[str, Any] = {"ok": True, "dispatched": [], "failed": [], "queued": []}
    for one in dispatches:
        entry = {"repo": one.repo}
        if _LISTS[one.state] == "failed":
            entry["error"] = f"GitHub dispatch failed: {one.reason}"
        answer[_LISTS[one.state]].append(entry)
    return answer


def _dispatch(
    settings: RelaySettings, incoming: Incoming, context: UpstreamContext, backend: Backend, now: datetime
) -> dict[str, Any]:
    return {
        "delivery_id": incoming.delivery_id,
        "repo": backend.repo,
        "repo_key": backend.key,
        "level": backend.level.name,
        "event_type": incoming.event,
        "upstream_repo": settings.upstream_repo,
        "pr_number": context.pr_number,
        "head_sha": context.head_sha,
        "nonce": "" if settings.crcr_strict_compat else new_nonce(),
        "state": DispatchState.QUEUED,
        "queued_at": now,
    }


def _letter(row_id: int, backend: Backend, incoming: Incoming, context: UpstreamContext, *, strict: bool) -> NewItem:
    """The letter of a dispatch. It holds no payload, which is kept once, with the delivery."""
    key = f"dispatch/{incoming.delivery_id}/{backend.key}"
    # A backend hears of one pull request, or one ref, in the order of the events. The original knew no order.
    pull = incoming.event == "pull_request"
    about = f"pull/{context.pr_number}" if pull else f"ref/{incoming.payload.get('ref')}"
    lane = key if strict else f"dispatch/{backend.key}/{about}"
    return NewItem(OutboxKind.DISPATCH, key, lane, backend.repo, {}, dispatch_id=row_id)


def _wish_checks(
    session: Session, settings: RelaySettings, incoming: Incoming, backends: Sequence[Backend], now: datetime
) -> None:
    """Remember whose jobs are to be shown on the commit: those of L4, and of L3 with the label of their device."""
    context = upstream_context(incoming.event, incoming.payload)
    if context.pr_number is None or not context.head_sha or incoming.payload.get("action") == "closed":
        return
    labels = label_names(incoming.payload)
    for backend in backends:
        reason = _why_shown(backend, labels)
        if reason:
            wanted = Wish(settings.upstream_repo, context.head_sha, backend.key, context.pr_number)
            wish(session, wanted, reason, now)


def _why_shown(backend: Backend, labels: frozenset[str]) -> str:
    if backend.level is Level.L4:
        return "the level L4"
    label = f"{PREFIX}{backend.device}"
    return f"the label {label}" if backend.level is Level.L3 and label in labels else ""
