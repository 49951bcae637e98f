"""The history of all runs, as those want it who follow the whole service. Reads only."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from relay.store.models import RunEvent
from relay.views import RunEvent as RunEventView


def events_since(session: Session, after: int, *, also: Sequence[int] = (), limit: int) -> tuple[RunEventView, ...]:
    """The events after an id and those of the ids `also`, in the order of their ids."""
    wanted = or_(RunEvent.id > after, RunEvent.id.in_(also)) if also else RunEvent.id > after
    rows = session.scalars(select(RunEvent).where(wanted).order_by(RunEvent.id).limit(limit))
    return tuple(map(_view, rows))


def newest_events(session: Session, *, limit: int) -> tuple[RunEventView, ...]:
    """The last events of the service, the newest at the end."""
    rows = session.scalars(select(RunEvent).order_by(RunEvent.id.desc()).limit(limit)).all()
    return tuple(map(_view, reversed(rows)))


def newest_event_id(session: Session) -> int:
    """The id of the newest event of all, 0 when there is none."""
    return session.scalar(select(func.max(RunEvent.id))) or 0


def _view(row: RunEvent) -> RunEventView:
    return RunEventView(id=row.id, run_id=row.run_id, at=row.at, kind=row.kind, text=row.text)
