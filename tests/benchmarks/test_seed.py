"""The seeded record is one the service could have written itself: every page of it opens, and its counts are right."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from starlette.routing import compile_path

from relay.app import create_app
from relay.contract import LogKind
from relay.now_views import WorkerState
from relay.runs.listings import load_considered
from relay.runs.log_places import LogWanted, Place, parse_place
from relay.runs.log_reading import every_line, read_log, shard_logs
from relay.runs.now import now_board
from relay.runs.quality import quality
from relay.runs.queries import run_detail
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from relay.store.engine import Store
from relay.store.models import PlannedTest, Run, TestAttempt
from tests.benchmarks.bench_pages import Timed, addresses, page_paths, report
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_rows import DEVICE, Size

SMALL = Size(runs=240, tests=20, considered=30, reports=300, deliveries=120)


def test_a_seeded_record_reads_like_any_other(store: Store) -> None:
    told = seed(store, SMALL, utc_now())
    with store.reading() as session:
        detail = run_detail(session, 200, "http://relay.test")
        considered = load_considered(session, 200).page(limit=100)
        assert session.scalar(select(func.count()).select_from(PlannedTest)) == SMALL.runs * SMALL.tests
        tries = session.scalar(select(func.count()).select_from(TestAttempt))
    assert (detail.run.planned, detail.kept, detail.dropped, considered.total) == (20, 10, 20, 30)
    assert tries == SMALL.runs * SMALL.tests + 2 * sum(run.breaks for run in told)


def test_logs_of_a_seeded_record_open_at_their_first_failure(store: Store) -> None:
    told = seed(store, SMALL, utc_now())
    broken = next(run for run in told if run.breaks)
    with store.reading() as session:
        logs = {log.shard: log for log in shard_logs(session, broken.id)}
        failed = parse_place(logs[2 * broken.id].first_failure)
        page = read_log(
            session, LogWanted(broken.id, 2 * broken.id), after=Place(failed.chunk, failed.line - 1), limit=1
        )
        assert logs[2 * broken.id].lines == sum(1 for _ in every_line(session, LogWanted(broken.id, 2 * broken.id)))
    assert [line.kind for line in page.lines] == [LogKind.FAILURE]


def test_workers_of_a_seeded_record_are_there_and_not_alike(store: Store) -> None:
    now = utc_now()
    seed(store, SMALL, now)
    with store.reading() as session:
        (device,) = now_board(session, "", (DEVICE,), now, lease_seconds=30).devices
    assert {worker.state for worker in device.workers} == {WorkerState.WORKING, WorkerState.IDLE}
    assert [found.trait for found in device.differences] == ["torch"]


def test_audits_of_a_seeded_record_have_found_something(store: Store) -> None:
    seed(store, SMALL, utc_now())
    with store.reading() as session:
        found = quality(session, DEVICE, utc_now(), days=90)
    assert len(found.audits) > 10
    assert sum(one.broken for one in found.audits) > 5
    assert found.lot.drawn > 0
    assert len(found.selections) > 80


def test_new_rows_follow_the_seeded_ones(store: Store) -> None:
    """A record that was seeded can be used."""
    seed(store, SMALL, utc_now())
    with store.writing() as session:
        like = session.get_one(Run, SMALL.runs)
        columns = {column.name: getattr(like, column.name) for column in Run.__table__.columns}
        session.add(new := Run(**(columns | {"id": None, "identity": "new"})))
        session.flush()
        assert new.id == SMALL.runs + 1


@pytest.fixture
def client(settings: RelaySettings) -> TestClient:
    return TestClient(create_app(settings))


def test_the_benchmark_asks_for_every_page_and_each_opens(client: TestClient) -> None:
    """A new page has to be in it."""
    context = client.app.state.relay  # type: ignore[attr-defined]  # the application is FastAPI's
    seed(context.store, SMALL, utc_now())
    asked = addresses(context)
    for address in asked:
        assert client.get(address).status_code == 200, address
    pages = page_paths()
    assert len(pages) > 15
    paths = [address.partition("?")[0] for address in asked]
    assert [page for page in pages if not any(compile_path(page)[0].match(path) for path in paths)] == []
    context.waker.close()
    context.store.engine.dispose()


def test_the_table_has_the_slowest_page_first() -> None:
    quick, slow = [0.01] * 20, [0.01] * 18 + [0.3] * 2
    found = [Timed("/quick", quick, quick, 2048), Timed("/slow", slow, quick, 1024)]
    head, _, first, second, *_ = report("SQLite", found).splitlines()
    assert head == "SQLite: 1 of 2 pages under 200 ms (p95)"
    assert first.split() == ["300.0", "ms", "10.0", "ms", "10.0", "ms", "1.0", "KiB", "/slow"]
    assert second.endswith("/quick")
