"""The audit log: every action of an operator, written in the transaction that does it, and read newest first.

An action that fails leaves no row, for it changed nothing. Rows are never changed and never removed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.access_views import ActionPage, ActionView, Via
from relay.store.access_models import OperatorAction


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, by the name of the token, and in which request."""

    name: str
    token_id: int | None
    via: Via
    request_id: str


@dataclass(frozen=True, slots=True)
class ActionFilter:
    """Which actions are wanted; None leaves a part open. `action` is a whole word (`run.rerun`)."""

    actor: str | None = None
    action: str | None = None
    run_id: int | None = None


def record_action(
    session: Session,
    actor: Actor,
    action: str,
    now: datetime,
    *,
    subject: str = "",
    detail: str = "",
    run_id: int | None = None,
) -> None:
    """Note that `actor` did `action` (`run.rerun`, `token.create`) to `subject`, with the caller's other writes."""
    session.add(
        OperatorAction(
            at=now,
            actor=actor.name,
            token_id=actor.token_id,
            via=actor.via,
            action=action,
            subject=subject,
            detail=detail,
            run_id=run_id,
            request_id=actor.request_id,
        )
    )


def list_actions(session: Session, wanted: ActionFilter, *, limit: int, before: int | None) -> ActionPage:
    """Actions with smaller ids than `before`, the newest first."""
    query = select(OperatorAction)
    if wanted.actor is not None:
        query = query.where(OperatorAction.actor == wanted.actor)
    if wanted.action is not None:
        query = query.where(OperatorAction.action == wanted.action)
    if wanted.run_id is not None:
        query = query.where(OperatorAction.run_id == wanted.run_id)
    if before is not None:
        query = query.where(OperatorAction.id < before)
    found = session.scalars(query.order_by(OperatorAction.id.desc()).limit(limit + 1)).all()
    return ActionPage(
        actions=tuple(map(_view, found[:limit])), next_before=found[limit - 1].id if len(found) > limit else None
    )


def _view(row: OperatorAction) -> ActionView:
    return ActionView(
        id=row.id,
        at=row.at,
        actor=row.actor,
        via=row.via,
        action=row.action,
        subject=row.subject,
        detail=row.detail,
        run_id=row.run_id,
        request_id=row.request_id,
    )
