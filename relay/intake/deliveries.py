"""The inbox: deliveries are stored as they arrive and turned into runs afterwards, each exactly once.

Storing is all a webhook waits for; processing happens after the answer, and again by the sweep for what was left
over. Nothing here checks signatures, and nothing here sends wake-ups: commit first, then wake.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache

import structlog
from sqlalchemy import bindparam, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from relay.context import RelayContext
from relay.errors import ConflictError, RelayError
from relay.intake.bodies import bring_back
from relay.intake.comment_wishes import commanded_repositories
from relay.intake.events import (
    CommentCreated,
    Event,
    Ignored,
    PullRequestChanged,
    PullRequestClosed,
    PushReceived,
    parse_event,
)
from relay.intake.full_wishes import NO_WISHES, FullWishes, full_wishes
from relay.intake.participants import devices_for_changes
from relay.intake.pull_heads import is_in_turn
from relay.outbox.queue import enqueue
from relay.runs.creation import NewRun, cancel_pull_request, full_run_of, open_run
from relay.runs.spans import delivery_handled
from relay.store.crcr_models import OutboxKind
from relay.store.models import Delivery, DeliveryState, Run, Trigger
from relay.store.upsert import insert_for

_log = structlog.get_logger(__name__)

DELIVERY_ID_CAP = 200
_SWEEP_BATCH = 50
#: How long a sweep goes on beyond its first batch: the next step of the sweep waits.
_SWEEP_S = 1.0
#: What says nothing of the delivery at hand: the next sweep may fare better.
_PASSING = (SQLAlchemyError, OSError, MemoryError)
#: Written once: making a statement costs more than running it, and there is one for every webhook.
_UNHANDLED = (
    select(Delivery)
    .where(Delivery.id == bindparam("row"), Delivery.state == DeliveryState.RECEIVED)
    .with_for_update(skip_locked=True)
)


def delivery_identity(header: str, body: bytes) -> str:
    """GitHub's id of the delivery; without the header, the body's digest stands in, so that a repeat is still one."""
    return header or f"sha256:{hashlib.sha256(body).hexdigest()}"


def record_delivery(
    session: Session, delivery_id: str, event: str, body: bytes, now: datetime
) -> tuple[Delivery, bool]:
    """The stored delivery, and whether it had been there before.

    Raises:
        ConflictError: the id is known with another event or body.
    """
    digest = hashlib.sha256(body).hexdigest()
    row = {
        "delivery_id": delivery_id,
        "event": event,
        "body_sha256": digest,
        "payload": body,
        "received_at": now,
        "state": DeliveryState.RECEIVED,
    }
    # Most are new: not asked for before they are kept. A twin request that keeps the same one now is waited for.
    fresh = session.scalar(_keeping(session.get_bind().dialect.name), row)
    if fresh is not None:
        return fresh, False
    known = session.scalars(select(Delivery).where(Delivery.delivery_id == delivery_id)).one()
    if (known.body_sha256, known.event) != (digest, event):
        raise ConflictError(
            f"The delivery {delivery_id} arrived before with another content.",
            "Every delivery needs its own X-GitHub-Delivery; only a true repeat may use one again.",
        )
    bring_back(known, body)
    return known, True


@cache
def _keeping(dialect: str) -> ReturningInsert[Delivery]:
    """Made once: making it takes longer than running it, and somebody waits."""
    return insert_for(dialect, Delivery).on_conflict_do_nothing(index_elements=["delivery_id"]).returning(Delivery)


@dataclass(frozen=True, slots=True)
class Listening:
    """Whose comments are read: those in these repositories (casefolded), but for our own App's."""

    repos: frozenset[str] = frozenset()
    app_id: int | None = None


def process_delivery(
    session: Session,
    row_id: int,
    devices: Sequence[str],
    now: datetime,
    wishes: FullWishes = NO_WISHES,
    *,
    listening: Listening | None = None,
) -> tuple[str, ...]:
    """Do what a stored delivery asks for, unless that is done. The devices that a run was opened for, so that their
    workers be woken: of `devices` all, in their order."""
    delivery = session.scalar(_UNHANDLED, {"row": row_id})
    if delivery is None:
        return ()
    with structlog.contextvars.bound_contextvars(delivery=delivery.delivery_id):
        runs = _act(session, delivery, _Asked(tuple(devices), now, wishes, listening or Listening()))
    delivery.run_id = runs[0].id if runs else None
    if len(runs) > 1:
        delivery.note = f"a run for each device: {', '.join(f'{run.id} on {run.device}' for run in runs)}"
    delivery_handled(session, delivery, now)
    return tuple(run.device for run in runs)


def handle_delivery(context: RelayContext, row_id: int) -> None:
    """Process one delivery in a transaction of its own, then wake workers. A database that is away leaves the delivery
    for the next sweep; a refusal of ours is final and noted on it."""
    devices, wishes = devices_for_changes(context), full_wishes(context.settings)
    listening = Listening(commanded_repositories(context.settings), context.settings.github_app_id)
    try:
        with context.store.writing() as session:
            opened = process_delivery(session, row_id, devices, context.now(), wishes, listening=listening)
    except SQLAlchemyError as error:
        _log.warning("delivery_postponed", delivery=row_id, fault=type(error).__name__)
        return
    except RelayError as error:
        _log.warning("delivery_failed", delivery=row_id, reason=error.message)
        _note_failure(context, row_id, error.message)
        return
    for device in opened:
        context.waker.wake(device)


def sweep_deliveries(context: RelayContext) -> int:
    """Process the deliveries that are still waiting, the oldest first, for example because a process died after its
    answer. How many were looked at: some at least, and as many more as time allows, for the oldest may be those that
    the database refuses every time."""
    looked_at, last, until = 0, 0, time.monotonic() + _SWEEP_S
    while waiting := _waiting_after(context, last):
        for row_id in waiting:
            _handle_alone(context, row_id)
        looked_at, last = looked_at + len(waiting), waiting[-1]
        if len(waiting) < _SWEEP_BATCH or time.monotonic() > until:
            break
    return looked_at


def _waiting_after(context: RelayContext, row_id: int) -> Sequence[int]:
    query = select(Delivery.id).where(Delivery.state == DeliveryState.RECEIVED, Delivery.id > row_id)
    with context.store.reading() as session:
        return session.scalars(query.order_by(Delivery.id).limit(_SWEEP_BATCH)).all()


def _handle_alone(context: RelayContext, row_id: int) -> None:
    """Whatever it comes to, the deliveries behind it are handled. The note names the fault alone: its words may be the
    payload's."""
    try:
        handle_delivery(context, row_id)
    except _PASSING as error:
        _log.warning("delivery_postponed", delivery=row_id, fault=type(error).__name__)
    except Exception as error:  # noqa: BLE001  # a bug that one delivery shows must not keep back the others
        _log.error("delivery_failed_unexpectedly", delivery=row_id, exc_info=True)
        _note_unexpected(context, row_id, type(error).__name__)


def _note_unexpected(context: RelayContext, row_id: int, fault: str) -> None:
    try:
        _note_failure(context, row_id, f"the relay's own fault: {fault}")
    except _PASSING as error:
        _log.warning("delivery_postponed", delivery=row_id, fault=type(error).__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What every run that is opened has in common but its device, and whose comments are read."""

    devices: tuple[str, ...]
    now: datetime
    wishes: FullWishes
    listening: Listening


def _event_of(delivery: Delivery, wishes: FullWishes) -> Event:
    payload: Mapping[str, object] = json.loads(delivery.payload)
    return parse_event(delivery.event, payload, wishes.labels)


def _act(session: Session, delivery: Delivery, asked: _Asked) -> list[Run]:
    """What it asks for; the runs that it led to."""
    delivery.state = DeliveryState.PROCESSED
    event = _event_of(delivery, asked.wishes)
    if isinstance(event, PullRequestChanged | PullRequestClosed) and not is_in_turn(
        session, delivery, event.repo, event.number, event.moved_at
    ):
        _ignore(delivery, f"it came late: a later webhook of pull request {event.number} was handled before")
        return []
    match event:
        case PullRequestChanged() | PushReceived() if not asked.devices:
            _ignore(delivery, "no backend takes part in pull requests and pushes, says the allowlist")
        case PullRequestChanged():
            return _open_pull_request(session, delivery, event, asked)
        case PushReceived():
            wanted = _on_each(_push_run(delivery, event, asked), asked)
            return [open_run(session, new, asked.now) for new in wanted]
        case PullRequestClosed(merged=True):
            delivery.note = f"pull request {event.number} was merged: what runs for it goes on"
        case PullRequestClosed():
            reason = f"Pull request {event.number} was closed."
            cancelled = cancel_pull_request(session, event.repo, event.number, asked.now, reason=reason)
            delivery.note = f"cancelled runs: {', '.join(map(str, cancelled)) or 'none'}"
        case CommentCreated():
            _read_later(session, delivery, event, asked)
        case Ignored():
            _ignore(delivery, event.reason)
    return []


def _ignore(delivery: Delivery, reason: str) -> None:
    delivery.state, delivery.note = DeliveryState.IGNORED, reason


def _read_later(session: Session, delivery: Delivery, event: CommentCreated, asked: _Asked) -> None:
    """Whether its author may is GitHub's to say, and GitHub is not asked while the record is locked."""
    if event.repo.casefold() not in asked.listening.repos:
        _ignore(delivery, f"comments in {event.repo} are not read (RELAY_COMMENT_COMMANDS)")
        return
    if event.app_id is not None and event.app_id == asked.listening.app_id:
        _ignore(delivery, "the comment is our own")
        return
    where = f"{event.repo.casefold()}/{event.number}"
    enqueue(
        session,
        kind=OutboxKind.COMMAND,
        key=f"command/{event.repo.casefold()}/{event.comment_id}",
        lane=f"command/{where}",
        target=event.repo,
        body=asdict(event),
        now=asked.now,
    )
    delivery.note = f"a comment on pull request {event.number} may ask for something"


def _open_pull_request(session: Session, delivery: Delivery, event: PullRequestChanged, asked: _Asked) -> list[Run]:
    """A run on each device, unless a label asks for what runs there already: GitHub tells of the labels a pull request
    is opened with twice, in `opened` and as `labeled`."""
    wanted = _on_each(_pull_request_run(delivery, event, asked), asked)
    known = {new.device: run for new in wanted if event.label and (run := full_run_of(session, new))}
    if known:
        runs = ", ".join(str(run.id) for run in known.values())
        delivery.note = f"every test of this commit runs already, in run {runs}"
    return [open_run(session, new, asked.now) for new in wanted if new.device not in known]


def _on_each(new: NewRun, asked: _Asked) -> Sequence[NewRun]:
    """The same run on every device. The first keeps the identity of its delivery, which is older than the others."""
    further = (replace(new, device=device, identity=f"{new.identity}#{device}") for device in asked.devices[1:])
    return (new, *further)


def _pull_request_run(delivery: Delivery, event: PullRequestChanged, asked: _Asked) -> NewRun:
    return NewRun(
        identity=f"delivery:{delivery.delivery_id}",
        repo=event.repo,
        kind=delivery.event,
        base_sha=event.base_sha,
        head_sha=event.head_sha,
        device=asked.devices[0],
        trigger=Trigger.WEBHOOK,
        pr_number=event.number,
        title=event.title,
        body=event.body,
        base_ref=event.base_ref,
        fetch_ref=f"refs/pull/{event.number}/head",
        full=asked.wishes.why(event),
    )


def _push_run(delivery: Delivery, event: PushReceived, asked: _Asked) -> NewRun:
    return NewRun(
        identity=f"delivery:{delivery.delivery_id}",
        repo=event.repo,
        kind=delivery.event,
        base_sha=event.before,
        head_sha=event.after,
        device=asked.devices[0],
        trigger=Trigger.WEBHOOK,
        title=event.title,
        base_ref=event.ref,
        fetch_ref=event.ref,
        full=asked.wishes.why(event),
    )


def _note_failure(context: RelayContext, row_id: int, reason: str) -> None:
    with context.store.writing() as session:
        delivery = session.get_one(Delivery, row_id, with_for_update=True)
        if delivery.state is DeliveryState.RECEIVED:
            delivery.state, delivery.note = DeliveryState.FAILED, reason
