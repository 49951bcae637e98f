"""Looking through what selections missed, and forgetting what was remembered wrongly. `relay.runs.misses` remembers.

Forgetting is a person's decision: nothing here does it by itself, and an audit that finds the same again remembers it
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.orm import Session

from relay.edge_views import EdgePage, EdgeView, RemovedEdges
from relay.store.models import MissedEdge


def list_edges(
    session: Session, device: str, *, part: str = "", run_id: int | None = None, limit: int, before: int | None = None
) -> tuple[EdgePage, int | None]:
    """The newest first: with `part` in the file's or the test's name, in any letter case; of that run; before that
    number. Beside them the number of the last one, where there are older ones."""
    conditions = tuple(_conditions(device, part, run_id))
    wanted = select(MissedEdge).where(*conditions)
    if before is not None:
        wanted = wanted.where(MissedEdge.id < before)
    found = session.scalars(wanted.order_by(MissedEdge.id.desc()).limit(limit + 1)).all()
    total = session.scalar(select(func.count(MissedEdge.id)).where(*conditions)) or 0
    page = EdgePage(edges=tuple(map(_view, found[:limit])), total=total)
    return page, found[limit - 1].id if len(found) > limit else None


def forget_edges(session: Session, ids: Sequence[int]) -> RemovedEdges:
    """Forget these, as far as they are there."""
    found = session.scalars(select(MissedEdge).where(MissedEdge.id.in_(ids)).order_by(MissedEdge.id)).all()
    removed = tuple(map(_view, found))
    session.execute(delete(MissedEdge).where(MissedEdge.id.in_([edge.id for edge in removed])))
    known = {edge.id for edge in removed}
    return RemovedEdges(removed=removed, unknown=tuple(sorted(set(ids) - known)))


def _conditions(device: str, part: str, run_id: int | None) -> Iterator[ColumnElement[bool]]:
    yield MissedEdge.device == device
    if part:
        names = (MissedEdge.changed_path, MissedEdge.base_test)
        yield or_(*(name.icontains(part, autoescape=True) for name in names))
    if run_id is not None:
        yield MissedEdge.run_id == run_id


def _view(edge: MissedEdge) -> EdgeView:
    return EdgeView(
        id=edge.id,
        device=edge.device,
        changed_path=edge.changed_path,
        base_test=edge.base_test,
        evidence=edge.evidence,
        run_id=edge.run_id,
        created_at=edge.created_at,
    )
