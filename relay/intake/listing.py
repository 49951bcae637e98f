"""What readers ask about the inbox. Reads only, and never a payload: they are large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from relay.errors import NotFoundError
from relay.intake.views import DeliveryDetail, DeliveryPage, DeliveryView
from relay.outbox.listing import dispatch_view
from relay.outbox.views import DispatchView
from relay.store.crcr_models import Dispatch
from relay.store.models import Delivery, DeliveryState

#: Backends that are named as told of one delivery.
_BACKENDS_NAMED = 200

_COLUMNS = (
    *(Delivery.id, Delivery.delivery_id, Delivery.event, Delivery.state, Delivery.received_at),
    *(Delivery.note, Delivery.run_id),
)


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Which deliveries are wanted; None leaves a part open. `delivery_id` is the whole name that the sender gave."""

    state: DeliveryState | None = None
    delivery_id: str | None = None


def list_deliveries(session: Session, wanted: DeliveryFilter, *, limit: int, before: int | None) -> DeliveryPage:
    """Deliveries with smaller ids than `before`, the newest first."""
    query = _wanted(wanted)
    if before is not None:
        query = query.where(Delivery.id < before)
    found = session.execute(query.order_by(Delivery.id.desc()).limit(limit + 1)).all()
    return DeliveryPage(
        deliveries=tuple(map(_view, found[:limit])),
        next_before=found[limit - 1].id if len(found) > limit else None,
        counts=count_deliveries(session),
    )


def count_deliveries(session: Session) -> dict[DeliveryState, int]:
    """How many there are in each state that one is in."""
    counted = session.execute(select(Delivery.state, func.count()).group_by(Delivery.state))
    counts = {row[0]: row[1] for row in counted}
    return {state: counts[state] for state in DeliveryState if state in counts}


def delivery_detail(session: Session, row_id: int) -> DeliveryDetail:
    """One delivery.

    Raises:
        NotFoundError: there is no such delivery.
    """
    size = func.length(Delivery.payload).label("size")
    columns = (*_COLUMNS, Delivery.body_sha256, Delivery.body_removed_at, size)
    row = session.execute(select(*columns).where(Delivery.id == row_id)).first()
    if row is None:
        raise NotFoundError(f"There is no webhook {row_id}.", "The inbox lists those that came.")
    return DeliveryDetail(
        delivery=_view(row),
        bytes=row.size,
        body_removed_at=row.body_removed_at,
        body_sha256=row.body_sha256,
        dispatches=_dispatches(session, row.delivery_id),
    )


def _dispatches(session: Session, delivery_id: str) -> tuple[DispatchView, ...]:
    told = select(Dispatch).where(Dispatch.delivery_id == delivery_id).order_by(Dispatch.repo_key)
    return tuple(map(dispatch_view, session.scalars(told.limit(_BACKENDS_NAMED))))


def _wanted(wanted: DeliveryFilter) -> Select[*tuple[Any, ...]]:
    query: Select[*tuple[Any, ...]] = select(*_COLUMNS)
    if wanted.state is not None:
        query = query.where(Delivery.state == wanted.state)
    if wanted.delivery_id is not None:
        query = query.where(Delivery.delivery_id == wanted.delivery_id)
    return query


def _view(row: Any) -> DeliveryView:
    return DeliveryView(
        id=row.id,
        delivery_id=row.delivery_id,
        event=row.event,
        state=row.state,
        received_at=row.received_at,
        note=row.note,
        run_id=row.run_id,
    )
