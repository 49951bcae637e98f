"""What readers ask about the tests of a run: results, decisions and what the manifests kept from running, by page.

Reads only, with a fixed number of queries whatever the page holds. Decisions are one stored document per run, so
they are searched here and not by the database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session, selectinload

from relay.contract import Attempt, Decision, FilteredTest
from relay.runs.queries import BY_WEIGHT, ensure_run
from relay.store.models import PlannedTest, Selection
from relay.views import DecisionPage, TestPage, TestView, Verdict

_FILTERED_CAP = 1_000


@dataclass(frozen=True, slots=True)
class FilteredPage:
    """Collected tests that the manifests keep from running, one page of `total`."""

    tests: tuple[FilteredTest, ...]
    total: int


def list_tests(
    session: Session, run_id: int, *, verdict: Verdict | None = None, limit: int, offset: int = 0
) -> TestPage:
    """Planned tests with what came of them, worst first.

    Raises:
        NotFoundError: there is no such run.
    """
    ensure_run(session, run_id)
    wanted = [PlannedTest.run_id == run_id]
    if verdict is not None:
        wanted.append(PlannedTest.verdict == verdict)
    return _test_page(session, wanted, limit=limit, offset=offset)


def list_waiting_tests(session: Session, run_id: int, *, limit: int, offset: int = 0) -> TestPage:
    """Planned tests that no worker has reported yet."""
    wanted = [PlannedTest.run_id == run_id, PlannedTest.verdict.is_(None)]
    return _test_page(session, wanted, limit=limit, offset=offset)


def list_decisions(
    session: Session, run_id: int, *, kept: bool | None = None, q: str = "", limit: int, offset: int = 0
) -> DecisionPage:
    """Considered base tests with their reasons; `q` is a part of the name. `filtered` holds what the manifests took
    from the base tests on this page.

    Raises:
        NotFoundError: there is no such run.
    """
    ensure_run(session, run_id)
    found = [
        entry
        for entry in _document(session, run_id, Selection.decisions)
        if (kept is None or entry["kept"] is kept) and _mentions(entry["test"], q)
    ]
    page = found[offset : offset + limit]
    bases = {entry["test"] for entry in page}
    filtered = [entry for entry in _document(session, run_id, Selection.filtered) if entry["base"] in bases]
    return DecisionPage(
        decisions=tuple(Decision.model_validate(entry) for entry in page),
        filtered=tuple(FilteredTest.model_validate(entry) for entry in filtered[:_FILTERED_CAP]),
        total=len(found),
    )


def decisions_about(session: Session, run_id: int, tests: Collection[str]) -> dict[str, Decision]:
    """The decisions about these base tests, by name."""
    if not tests:
        return {}
    entries = _document(session, run_id, Selection.decisions)
    return {entry["test"]: Decision.model_validate(entry) for entry in entries if entry["test"] in tests}


def list_filtered(session: Session, run_id: int, *, q: str = "", limit: int, offset: int = 0) -> FilteredPage:
    """Collected tests that the manifests keep from running; `q` is a part of the name."""
    found = [entry for entry in _document(session, run_id, Selection.filtered) if _mentions(entry["id"], q)]
    page = found[offset : offset + limit]
    return FilteredPage(tuple(FilteredTest.model_validate(entry) for entry in page), len(found))


def _test_page(session: Session, wanted: Sequence[ColumnElement[bool]], *, limit: int, offset: int) -> TestPage:
    weight = case({verdict: place for place, verdict in enumerate(BY_WEIGHT)}, value=PlannedTest.verdict, else_=99)
    rows = session.scalars(
        select(PlannedTest)
        .where(*wanted)
        .order_by(weight, PlannedTest.id)
        .limit(limit)
        .offset(offset)
        .options(selectinload(PlannedTest.attempts))
    ).all()
    total = session.scalar(select(func.count()).select_from(PlannedTest).where(*wanted)) or 0
    return TestPage(tests=tuple(_test_view(row) for row in rows), total=total)


def _test_view(row: PlannedTest) -> TestView:
    return TestView(
        id=row.test_id,
        file=row.file,
        base=row.base,
        expected=row.expected,
        rule=row.rule,
        provenance=row.provenance,
        tags=tuple(row.tags),
        shard_id=row.shard_id,
        verdict=row.verdict,
        observation=row.observation,
        duration_s=row.duration_s,
        detail=row.detail,
        attempts=tuple(
            Attempt(
                tree=attempt.tree,
                number=attempt.number,
                observation=attempt.observation,
                duration_s=attempt.duration_s,
                detail=attempt.detail,
            )
            for attempt in row.attempts
        ),
    )


def _document(session: Session, run_id: int, column: Any) -> list[dict[str, Any]]:
    """One of the selection's JSON documents; empty as long as there is no selection."""
    document: list[dict[str, Any]] | None = session.scalar(select(column).where(Selection.run_id == run_id))
    return document or []


def _mentions(name: str, part: str) -> bool:
    return part.casefold() in name.casefold()
