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
_WEIGHTS = {verdict: place for place, verdict in enumerate(BY_WEIGHT)}
#: Of a test that nobody has reported yet.
_LIGHTEST = 99


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
    return page_of_tests(session, run_id, verdict=verdict, limit=limit, offset=offset)[0]


def page_of_tests(
    session: Session,
    run_id: int,
    *,
    verdict: Verdict | None = None,
    limit: int,
    offset: int = 0,
    after: tuple[int, ...] | None = None,
) -> tuple[TestPage, tuple[int | None, int | None]]:
    """The same, `after` the place of the last test of another page; and the place of this page's last, where more tests
    follow. A place is how bad a test is, and its number: new results move tests, never a page.

    Raises:
        NotFoundError: there is no such run.
    """
    ensure_run(session, run_id)
    wanted = [PlannedTest.run_id == run_id]
    if verdict is not None:
        wanted.append(PlannedTest.verdict == verdict)
    return _test_page(session, wanted, limit=limit, offset=offset, after=after)


def list_waiting_tests(session: Session, run_id: int, *, limit: int, offset: int = 0) -> TestPage:
    """Planned tests that no worker has reported yet."""
    wanted = [PlannedTest.run_id == run_id, PlannedTest.verdict.is_(None)]
    return _test_page(session, wanted, limit=limit, offset=offset)[0]


@dataclass(frozen=True, slots=True)
class Considered:
    """A run's decisions and filtered tests as they are stored, read once however often they are searched."""

    decisions: Sequence[dict[str, Any]]
    filtered: Sequence[dict[str, Any]]

    def page(self, *, kept: bool | None = None, q: str = "", limit: int, offset: int = 0) -> DecisionPage:
        """Considered base tests with their reasons; `q` is a part of the name. `filtered` holds what the manifests
        took from the base tests on this page."""
        found = [
            entry for entry in self.decisions if (kept is None or entry["kept"] is kept) and _mentions(entry["test"], q)
        ]
        page = found[offset : offset + limit]
        bases = {entry["test"] for entry in page}
        filtered = [entry for entry in self.filtered if entry["base"] in bases]
        return DecisionPage(
            decisions=tuple(Decision.model_validate(entry) for entry in page),
            filtered=tuple(FilteredTest.model_validate(entry) for entry in filtered[:_FILTERED_CAP]),
            total=len(found),
        )

    def about(self, tests: Collection[str]) -> dict[str, Decision]:
        """The decisions about these base tests, by name."""
        return {entry["test"]: Decision.model_validate(entry) for entry in self.decisions if entry["test"] in tests}

    def held(self, *, q: str = "", limit: int, offset: int = 0) -> FilteredPage:
        """Collected tests that the manifests keep from running; `q` is a part of the name."""
        found = [entry for entry in self.filtered if _mentions(entry["id"], q)]
        page = found[offset : offset + limit]
        return FilteredPage(tuple(FilteredTest.model_validate(entry) for entry in page), len(found))


def load_considered(session: Session, run_id: int) -> Considered:
    """What the selection of a run considered; empty as long as there is none.

    Raises:
        NotFoundError: there is no such run.
    """
    ensure_run(session, run_id)
    query = select(Selection.decisions, Selection.filtered).where(Selection.run_id == run_id)
    row = session.execute(query).one_or_none()
    return Considered(row.decisions, row.filtered) if row else Considered((), ())


def _test_page(
    session: Session,
    wanted: Sequence[ColumnElement[bool]],
    *,
    limit: int,
    offset: int,
    after: tuple[int, ...] | None = None,
) -> tuple[TestPage, tuple[int | None, int | None]]:
    weight = case(_WEIGHTS, value=PlannedTest.verdict, else_=_LIGHTEST)
    query = select(PlannedTest).where(*wanted).order_by(weight, PlannedTest.id).limit(limit + 1)
    if after is None:
        query = query.offset(offset)
    else:
        heavier, number = after
        query = query.where((weight > heavier) | ((weight == heavier) & (PlannedTest.id > number)))
    rows = session.scalars(query.options(selectinload(PlannedTest.attempts))).all()
    total = session.scalar(select(func.count()).select_from(PlannedTest).where(*wanted)) or 0
    page = TestPage(tests=tuple(view_test(row) for row in rows[:limit]), total=total)
    return page, _place(rows[limit - 1]) if len(rows) > limit else (None, None)


def _place(row: PlannedTest) -> tuple[int, int]:
    return _LIGHTEST if row.verdict is None else _WEIGHTS[row.verdict], row.id


def view_test(row: PlannedTest) -> TestView:
    """A row, with its attempts loaded, as readers get it."""
    return TestView(
        id=row.test_id,
        file=row.file,
        base=row.base,
        expected=row.expected,
        rule=row.rule,
        provenance=row.provenance,
        tags=tuple(row.tags),
        isolate=row.isolate,
        timeout_s=row.timeout_s,
        op=row.op,
        dtype=row.dtype,
        by_lot=row.by_lot,
        missed=row.missed,
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
                reused=attempt.reused,
            )
            for attempt in row.attempts
        ),
    )


def _mentions(name: str, part: str) -> bool:
    return part.casefold() in name.casefold()
