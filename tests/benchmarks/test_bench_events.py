"""Both ways of learning of events bring every event to every stream, and what is told of them was measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from relay.store.engine import Store, open_engine
from tests.benchmarks.bench_events import WAYS, Server, commits, measure
from tests.benchmarks.load_setups import postmaster_of
from tests.benchmarks.load_work import add_planned_runs
from tests.conftest import MakeDatabase


@pytest.fixture
def server(make_postgres_database: MakeDatabase) -> Iterator[Server]:
    """A record on the tests' own server."""
    url = make_postgres_database("ready")
    engine = open_engine(url)
    store = Store(engine)
    add_planned_runs(store, count(1), 1, shards_in_a_run=1)
    yield Server(url, postmaster_of(engine), store)
    engine.dispose()


@pytest.mark.parametrize("name", WAYS)
def test_every_event_comes_to_every_stream(server: Server, name: str) -> None:
    way = measure(server, name, streams=3, seconds=0.4, rate=10.0)
    assert len(way.latencies) > 0
    assert len(way.latencies) % 3 == 0
    assert way.transactions > 0
    assert way.line().startswith(f"{name:8}    3 streams")


def test_writers_commit_events(server: Server) -> None:
    assert all(commits(server, also, 0.1) > 0 for _, also in WAYS.values())
