"""The order of a pull request's webhooks: who comes late does not undo what came after it.

GitHub sends a lost webhook again when it is asked, a quarter of an hour later or more, and several backgrounds handle
what is in the inbox at once. What counts is when upstream says that the pull request stood so, not when we heard of it.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import and_, exists, or_, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from relay.store.models import Delivery
from relay.store.pull_models import PullHead
from relay.store.upsert import insert_for


def is_in_turn(session: Session, delivery: Delivery, repo: str, number: int, moved: datetime | None) -> bool:
    """Whether no later webhook of this pull request was handled. Until this transaction ends, everybody waits here who
    handles another one: on PostgreSQL neither would see the run that the other opens. One that does not say when the
    pull request stood so is as late as it came."""
    told: dict[str, Any] = {
        "repo": repo.lower(),
        "number": number,
        "moved_at": moved or delivery.received_at,
        "delivery_row": delivery.id,
    }
    return session.scalar(_moving(session.get_bind().dialect.name), told) is not None


def is_behind(session: Session, repo: str, number: int, moved: datetime | None) -> bool:
    """Whether a later webhook of this pull request was handled before, as far as that can be told."""
    if moved is None:
        return False
    later = exists().where(PullHead.repo == repo.lower(), PullHead.number == number, PullHead.moved_at > moved)
    return bool(session.scalar(select(later)))


@cache
def _moving(dialect: str) -> ReturningInsert[tuple[int]]:
    """One statement, which locks the row also where it changes nothing. Of two of the same second, the one that came
    first is the earlier. Made once: making it takes longer than running it."""
    moving = insert_for(dialect, PullHead)
    new = moving.excluded
    later = or_(
        PullHead.moved_at < new.moved_at,
        and_(PullHead.moved_at == new.moved_at, PullHead.delivery_row <= new.delivery_row),
    )
    return moving.on_conflict_do_update(
        index_elements=["repo", "number"],
        set_={"moved_at": new.moved_at, "delivery_row": new.delivery_row},
        where=later,
    ).returning(PullHead.id)
