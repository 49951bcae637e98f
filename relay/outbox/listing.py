"""What readers ask about the outbox. Reads only. Bodies stay inside: they may hold proofs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, defer

from relay.errors import NotFoundError
from relay.outbox.views import DispatchView, LetterDetail, LetterPage, LetterState, LetterView
from relay.store.crcr_models import Dispatch, OutboxItem, OutboxKind, OutboxState

_UNKNOWN_HINT = "relay delivery list shows those there are; settled ones are removed after RELAY_RETENTION_DAYS."


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Which letters are wanted; None leaves a part open. `target` is compared whatever the letter case."""

    state: LetterState | None = None
    kind: OutboxKind | None = None
    target: str | None = None


def list_letters(session: Session, wanted: LetterFilter, *, limit: int, before: int | None) -> LetterPage:
    """Letters with smaller ids than `before`, the newest first, and how many there are."""
    letters, next_before = find_letters(session, wanted, limit=limit, before=before)
    return LetterPage(letters=letters, next_before=next_before, counts=count_letters(session, wanted))


def find_letters(
    session: Session, wanted: LetterFilter, *, limit: int, before: int | None
) -> tuple[tuple[LetterView, ...], int | None]:
    """The same uncounted: the letters, and the id before which there are more."""
    query = select(OutboxItem).where(*_conditions(wanted)).options(defer(OutboxItem.body))
    if before is not None:
        query = query.where(OutboxItem.id < before)
    found = session.scalars(query.order_by(OutboxItem.id.desc()).limit(limit + 1)).all()
    return tuple(map(_view, found[:limit])), found[limit - 1].id if len(found) > limit else None


def count_letters(session: Session, wanted: LetterFilter) -> dict[LetterState, int]:
    """How many fit, by state."""
    counted = select(OutboxItem.state, func.count()).where(*_conditions(wanted)).group_by(OutboxItem.state)
    return _in_order({row[0]: row[1] for row in session.execute(counted)})


def letter_detail(session: Session, letter_id: int) -> LetterDetail:
    """One letter, with the dispatch it belongs to.

    Raises:
        NotFoundError: there is no such letter.
    """
    item = session.get(OutboxItem, letter_id)
    if item is None:
        raise unknown_letter(letter_id)
    dispatch = session.get(Dispatch, item.dispatch_id) if item.dispatch_id is not None else None
    return LetterDetail(
        letter=_view(item),
        key=item.key,
        lane=item.lane,
        open_since=item.open_since,
        dispatch=None if dispatch is None else dispatch_view(dispatch),
    )


def unknown_letter(letter_id: int) -> NotFoundError:
    """The error for a number that is no letter's."""
    return NotFoundError(f"There is no delivery {letter_id}.", _UNKNOWN_HINT)


def _conditions(wanted: LetterFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.state is not None:
        conditions.append(OutboxItem.state == OutboxState(wanted.state))
    if wanted.kind is not None:
        conditions.append(OutboxItem.kind == wanted.kind)
    if wanted.target is not None:
        conditions.append(func.lower(OutboxItem.target) == wanted.target.lower())
    return conditions


def _in_order(counts: Mapping[OutboxState, int]) -> dict[LetterState, int]:
    return {state: counts[OutboxState(state)] for state in LetterState if OutboxState(state) in counts}


def _view(item: OutboxItem) -> LetterView:
    return LetterView(
        id=item.id,
        kind=item.kind,
        state=LetterState(item.state),
        target=item.target,
        attempts=item.attempts,
        due_at=item.due_at,
        created_at=item.created_at,
        settled_at=item.settled_at,
        status=item.last_status,
        error=item.last_error,
    )


def dispatch_view(dispatch: Dispatch) -> DispatchView:
    """A dispatch as readers get it: without the proof that answers are known by."""
    return DispatchView(
        delivery_id=dispatch.delivery_id,
        repo=dispatch.repo,
        level=dispatch.level,
        event=dispatch.event_type,
        pr_number=dispatch.pr_number,
        head_sha=dispatch.head_sha,
        state=dispatch.state,
        reason=dispatch.reason,
    )
