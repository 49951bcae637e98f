"""A finished run's tests file by file, for exports: first how many of each kind a file has, then the tests themselves.

Reads only, in pages with a session each, so that a slow reader of 20,000 tests holds no transaction open. The tests of
a finished run do not change any more, which is why the pages fit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import selectinload

from relay.contract import Expected, Observation
from relay.errors import ConflictError
from relay.runs.listings import view_test
from relay.runs.queries import run_detail
from relay.runs.states import FINAL_RUN_STATES
from relay.store.engine import Store
from relay.store.models import PlannedTest
from relay.views import RunDetail, TestView, Verdict

PAGE = 500


@dataclass(frozen=True, slots=True)
class Kind:
    """Everything that decides how a test is counted."""

    expected: Expected
    verdict: Verdict | None
    observation: Observation | None


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many tests of one kind a file has, and how long their last attempts took together, in seconds."""

    file: str
    kind: Kind
    tests: int
    seconds: float


def finished_run(store: Store, run_id: int, public_url: str) -> tuple[RunDetail, tuple[KindCount, ...]]:
    """A run that is over, and its counts.

    Raises:
        NotFoundError: there is no such run.
        ConflictError: it is not over, so that a report of it could look green although it turns red.
    """
    columns = (PlannedTest.file, PlannedTest.expected, PlannedTest.verdict, PlannedTest.observation)
    with store.reading() as session:
        detail = run_detail(session, run_id, public_url)
        if detail.run.state not in FINAL_RUN_STATES:
            raise ConflictError(
                f"Run {run_id} is not finished yet; it is {detail.run.state}.",
                f"Wait for it (relay run watch {run_id}) and ask again.",
                code="run_unfinished",
            )
        query = select(*columns, func.count(), func.sum(PlannedTest.duration_s))
        rows = session.execute(query.where(PlannedTest.run_id == run_id).group_by(*columns).order_by(*columns)).all()
    return detail, tuple(
        KindCount(file, Kind(expected, verdict, seen), count, seconds or 0.0)
        for file, expected, verdict, seen, count, seconds in rows
    )


def planned_by_file(store: Store, run_id: int, *, page: int = PAGE) -> Iterator[TestView]:
    """The tests of a run, all of a file together, each page of them read when it is wanted."""
    file, last = "", 0
    while True:
        after = or_(PlannedTest.file > file, and_(PlannedTest.file == file, PlannedTest.id > last))
        query = select(PlannedTest).where(PlannedTest.run_id == run_id, after).limit(page)
        with store.reading() as session:
            rows = session.scalars(
                query.order_by(PlannedTest.file, PlannedTest.id).options(selectinload(PlannedTest.attempts))
            ).all()
            views = [view_test(row) for row in rows]
        yield from views
        if len(rows) < page:
            return
        file, last = rows[-1].file, rows[-1].id
