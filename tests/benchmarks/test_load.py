"""The load's figures are of work that was done: what was counted is in the record. Memory is judged by its slope."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute

from relay.app import create_app
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob
from relay.store.engine import Store, open_engine
from relay.store.models import Delivery, PlannedTest, TestAttempt
from tests.benchmarks import load, load_work
from tests.benchmarks.load_bare import BODIES, bare_app, insert_batches
from tests.benchmarks.load_client import Client, Flood, UnexpectedAnswerError, flood, post, repeating
from tests.benchmarks.load_figures import Figures, Memory, Row
from tests.benchmarks.load_setups import SQLITE, Served, Setup, relay_environment, setup
from tests.benchmarks.load_streams import Streams, at_random
from tests.relay.serving import serving

_SMALL = load.Size(seconds=0.15, clients=2, streams=3, steady=0.1, webhooks=4)


@pytest.fixture
def prepared(tmp_path: Path) -> Iterator[Setup]:
    """The small set-up."""
    with setup(SQLITE, tmp_path / SQLITE) as made:
        yield made


@pytest.fixture
def bench(prepared: Setup, monkeypatch: pytest.MonkeyPatch) -> Iterator[load.Bench]:
    """A relay with backends, and the bare handlers, in this process behind sockets."""
    with ExitStack() as stack:
        issuer = stack.enter_context(load.issuing())
        for name, value in (relay_environment(prepared) | load.with_backends(prepared, issuer)).items():
            monkeypatch.setenv(name, value)
        relay = _served(stack, create_app(RelaySettings()), whole=True)
        bare = Store(open_engine(prepared.bare_url))
        stack.callback(bare.engine.dispose)
        BODIES.create(bare.engine)
        store = stack.enter_context(prepared.store())
        yield load.Bench(prepared, _SMALL, store, relay, _served(stack, bare_app(bare)), issuer)


def _served(stack: ExitStack, app: FastAPI, *, whole: bool = False) -> Served:
    url = stack.enter_context(serving(app, whole=whole))
    return Served(int(url.rpartition(":")[2]), os.getpid())


def _count(store: Store, what: InstrumentedAttribute[Any]) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count(what))) or 0


def test_what_is_counted_was_done(bench: load.Bench) -> None:
    taken = bench.webhooks("webhooks")
    assert 0 < taken.flood.units == len(taken.flood.latencies) == _count(bench.store, Delivery.id)
    assert set(taken.times) == {"bare, one INSERT", "bare echo"}
    told = bench.callbacks()
    assert told.flood.units > 0
    assert 0 < _count(bench.store, BackendJob.id) <= told.flood.units
    leased, reported, ended = bench.results()
    assert leased.flood.units >= ended.flood.units > 0
    assert reported.flood.units % _SMALL.batch == 0
    assert reported.flood.units == _count(bench.store, PlannedTest.verdict) == _count(bench.store, TestAttempt.id)
    rows = (taken, told, leased, reported, ended)
    assert all(sum(one.cpu_ms.values()) > 0 for one in rows)
    streams = bench.streams()
    assert all(0 < one["p50_ms"] <= one["p99_ms"] for one in streams.values())
    figures = Figures("small", list(rows), streams, {"web": Memory([0.0, 1.0, 2.0, 3.0], [1.0] * 4)})
    assert json.loads(json.dumps(figures.data()))["work"]["results"]["per_s"] > 0
    assert "3 streams, relay" in figures.table()


def test_an_answer_that_is_none_is_no_figure(bench: load.Bench) -> None:
    refused = repeating(lambda: post("/github/webhook", b"{}", {"X-GitHub-Event": "pull_request"}))
    with pytest.raises(UnexpectedAnswerError, match="HTTP 400"):
        flood(bench.relay.port, 2, 0.1, refused)


def test_what_arrives_before_its_teller_has_returned_took_time() -> None:
    """A stream may be quicker than the answer to who told of it."""
    streams, numbers = Streams(1), count(1)

    def tell() -> int:
        number = next(numbers)
        streams.arrived[number] = [time.perf_counter()]
        return number

    sent = at_random(0.2, 100.0, tell)
    latencies = streams.latencies(sent)
    assert len(latencies) == len(sent) > 0
    assert min(latencies) > 0


def test_the_driver_alone_writes_what_it_says(prepared: Setup) -> None:
    done = insert_batches(prepared.bare_url, 20, 0.05)
    with prepared.store() as _:
        engine = open_engine(prepared.bare_url)
        with engine.connect() as connection:
            written = connection.exec_driver_sql("SELECT count(*) FROM load_rows").scalar_one()
        engine.dispose()
    assert done.units == written == 20 * len(done.latencies) > 0


def test_times_are_those_of_the_baseline() -> None:
    ours, other = Flood([0.01], seconds=2.0, units=100), Flood([0.01], seconds=1.0, units=200)
    assert Row("webhooks", "webhook", ours, {}, {"bare": other}).times == {"bare": 4.0}


@pytest.mark.parametrize(
    ("mib", "flat"),
    [
        ([100.0 + 20 * min(at, 20) / 20 + at % 2 for at in range(60)], True),  # it grows, and then does not
        ([100.0 + at for at in range(60)], False),
        ([100.0 + at / 2 + 30 * (at % 2) for at in range(60)], True),  # growth that its own noise would hide
    ],
)
def test_memory_is_flat_when_its_second_half_does_not_rise(mib: list[float], flat: bool) -> None:
    assert Memory([float(at) for at in range(60)], mib).flat is flat


def test_a_client_is_on_time_until_its_deadline(bench: load.Bench) -> None:
    client = Client(bench.bare.port, 0, deadline=0.0)
    assert not client.on_time
    assert client.ask(load_work.plain("/insert")())[0] == 200
    client.close()
