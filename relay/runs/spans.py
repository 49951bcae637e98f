"""Spans of what the record tells of: a delivery, a run. They are recorded when they are over and committed, with ids
made of their identity, so that every process can add to the trace of a run that it only knows by that.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import event
from sqlalchemy.orm import Session

from relay.store.models import Delivery, Run
from relay.trail.tracing import Attribute, is_on, record_span, traceparent_of

_WAITING = "spans"
_DELIVERY, _RUN = "delivery:", "run:"


def delivery_traceparent(delivery_id: str) -> str:
    """What belongs to a delivery; empty while no spans are sent."""
    return traceparent_of(_DELIVERY + delivery_id, _DELIVERY + delivery_id)


def run_traceparent(run: Run) -> str:
    """What belongs to a run; empty while no spans are sent. A run that a webhook opened is of its delivery's trace, any
    other has one of its own."""
    if run.identity.startswith(_DELIVERY):
        return traceparent_of(_delivery_of(run), _RUN + run.identity)
    return traceparent_of(_RUN + run.identity, _RUN + run.identity)


def delivery_handled(session: Session, delivery: Delivery, now: datetime) -> None:
    """Record the span of a delivery, from its arrival, once this session commits."""
    if not is_on():
        return
    identity, begun = _DELIVERY + delivery.delivery_id, delivery.received_at
    about = {"event": delivery.event, "state": delivery.state, "delivery": delivery.delivery_id}
    _after_commit(session, lambda: record_span("delivery", identity, "", (begun, max(now, begun)), **about))


def run_ended(session: Session, run: Run, now: datetime) -> None:
    """Record the span of a run, from its creation to its verdict, once this session commits."""
    if not is_on():
        return
    asked_for = run.identity.startswith(_DELIVERY)
    parent = delivery_traceparent(_delivery_of(run).removeprefix(_DELIVERY)) if asked_for else ""
    identity, begun = _RUN + run.identity, run.created_at
    about: dict[str, Attribute] = {
        "run": run.id,
        "device": run.device,
        "state": run.state,
        "conclusion": run.conclusion or "",
    }
    _after_commit(session, lambda: record_span("run", identity, parent, (begun, max(now, begun)), **about))


def _delivery_of(run: Run) -> str:
    """One delivery asks for a run on each device; all of them are of its trace."""
    return run.identity.removesuffix(f"#{run.device}")


def _after_commit(session: Session, record: Callable[[], None]) -> None:
    if _WAITING not in session.info:
        session.info[_WAITING] = []
        event.listen(session, "after_commit", _record)
        event.listen(session, "after_rollback", _forget)
    session.info[_WAITING].append(record)


def _record(session: Session) -> None:
    waiting, session.info[_WAITING] = session.info[_WAITING], []
    for record in waiting:
        record()


def _forget(session: Session) -> None:
    session.info[_WAITING] = []
