"""How much the service takes, on both set-ups: `python -m tests.benchmarks.load`.

A real `relay serve` with its background, over sockets of this machine, by a few clients that each wait for their
answer: webhooks, callbacks with tokens of a local issuer, results of planned tests (lease, batches as workers send
them, end), and open event streams. Each beside a baseline that is measured in the same run, in turns with it
(`tests.benchmarks.load_bare`). At the end webhooks and results come together for a while: memory that still grows over
the second half of that by more than it scatters is not flat.

The goals: webhooks at a third of the bare handler's rate or more, 5,000 results in a second on PostgreSQL, flat memory.
Figures are of this machine, where clients, relay and database share the processors. `--json` writes them for programs.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Thread
from time import perf_counter

import structlog
from fastapi import FastAPI
from sqlalchemy import func, select

from relay.devgithub.oidc import Issuer
from relay.store.engine import Store
from relay.store.models import Delivery, DeliveryState
from tests.benchmarks import load_work as work
from tests.benchmarks.load_bare import insert_batches
from tests.benchmarks.load_client import Client, Flood, flood, post, repeating, sending
from tests.benchmarks.load_figures import Figures, Row, milliseconds, watching_memory
from tests.benchmarks.load_setups import NAMES, Served, Setup, served_bare, served_relay, setup
from tests.benchmarks.load_streams import at_random, open_streams, telling_events
from tests.relay.serving import serving
from tests.waiting import until
from workers.shards.results import BATCH_SIZE

_TURNS = 3
_SETTLES_S = 60.0
#: More than is reported in the seconds of a run; what is left over costs nothing.
_RESULTS_PER_S, _CALLBACKS_PER_S = 12_000, 800
_EVENTS_PER_S = 8.0
PARTS = ("webhooks", "results", "streams", "memory", "backends", "callbacks")


@dataclass(frozen=True, slots=True)
class Size:
    """How long each kind of work goes on (seconds), with how many clients; how many event streams are open; how long
    the load at the end is; how many results a worker sends at once. Webhooks are so many in one turn at most: what they
    ask for takes several times as long, and is waited for."""

    seconds: float = 6.0
    clients: int = 8
    streams: int = 200
    steady: float = 12.0
    batch: int = BATCH_SIZE
    webhooks: int = 250


@dataclass
class Bench:
    """One relay that is measured, beside the bare handlers."""

    setup: Setup
    size: Size
    store: Store
    relay: Served
    bare: Served
    issuer: Issuer
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def webhooks(self, name: str) -> Row:
        """Accepted, in turns with the bare handlers; what they ask for is done behind, and waited for."""
        ours, insert, echo = Flood(), Flood(), Flood()
        before = self.relay.cpu_s()
        for _ in range(_TURNS):
            make = work.webhooks(self.numbers)
            ours.add(self._flood(self.relay, sending([make() for _ in range(self.size.webhooks)])))
            self._settle()
            insert.add(self._flood(self.bare, repeating(work.plain("/insert"))))
            echo.add(self._flood(self.bare, repeating(work.plain("/echo"))))
        beside = {"bare, one INSERT": insert, "bare echo": echo}
        return Row(name, "webhook", ours, self._cpu_ms(before, ours), beside)

    def callbacks(self) -> Row:
        """Reports of backends' jobs."""
        wanted = int(self.size.seconds * _CALLBACKS_PER_S / len(work.BACKENDS) / 2)
        names = work.add_dispatches(self.store, self.numbers, wanted)
        requests = sending(work.callbacks(self.issuer, names))
        ours, insert, before = Flood(), Flood(), self.relay.cpu_s()
        for _ in range(_TURNS):
            ours.add(self._flood(self.relay, requests))
            insert.add(self._flood(self.bare, repeating(work.plain("/insert"))))
        return Row("callbacks", "callback", ours, self._cpu_ms(before, ours), {"bare, one INSERT": insert})

    def results(self) -> list[Row]:
        """Rows of results, and what leasing and ending their shards takes, each by itself."""
        self.plan(self.size.seconds)
        workers = work.Workers(self.size.batch)
        done = {"leases": workers.lease, "results": workers.report, "ends of shards": workers.end}
        floods, rows = {name: Flood() for name in done}, Flood()
        spent = {name: defaultdict[str, float](float) for name in done}
        for _ in range(_TURNS):
            for name, one in done.items():
                before = self.relay.cpu_s()
                floods[name].add(self._flood(self.relay, one))
                for part, seconds in self.relay.cpu_s().items():
                    spent[name][part] += seconds - before[part]
            rows.add(insert_batches(self.setup.bare_url, self.size.batch, self.size.seconds / _TURNS))
        units, beside = {"results": "row"}, {"results": {"driver alone": rows}}
        return [
            Row(name, units.get(name, "shard"), flood, _of_each(spent[name], flood), beside.get(name, {}))
            for name, flood in floods.items()
        ]

    def plan(self, seconds: float) -> None:
        """Have tests that wait to be run."""
        work.add_planned_runs(self.store, self.numbers, int(seconds * _RESULTS_PER_S))

    def streams(self) -> dict[str, dict[str, float]]:
        """How long (ms) an event takes to every open stream, and what that and the idle streams cost."""
        self.plan(0.1)
        told, served = {}, {"relay": (self.relay, "/api/v1/events"), "bare": (self.bare, "/stream")}
        tellers = {"relay": telling_events(self.store), "bare": _telling_bare(self.bare)}
        for name, (process, path) in served.items():
            with open_streams(process.port, path, self.size.streams) as streams:
                before, begun = process.cpu_s()["web"], perf_counter()
                sent = at_random(self.size.seconds, _EVENTS_PER_S, tellers[name])
                streams.wait_for(sent)
                cpu = process.cpu_s()["web"] - before
                found = streams.latencies(sent)
            told[f"{self.size.streams} streams, {name}"] = {
                "p50_ms": milliseconds(found, 50),
                "p99_ms": milliseconds(found, 99),
                "events": len(sent),
                "cpu_percent": round(100 * cpu / (perf_counter() - begun), 1),
            }
        return told

    def steady(self) -> None:
        """Webhooks and results at the same time. When all results are in, webhooks alone go on."""
        half, seconds = max(1, self.size.clients // 2), self.size.steady
        self.plan(seconds / 4)
        both = [repeating(work.webhooks(self.numbers)), work.Workers(self.size.batch).work]
        threads = [Thread(target=flood, args=(self.relay.port, half, seconds, one)) for one in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _flood(self, served: Served, of: Callable[[Client], None]) -> Flood:
        return flood(served.port, self.size.clients, self.size.seconds / _TURNS, of)

    def _cpu_ms(self, before: Mapping[str, float], done: Flood) -> dict[str, float]:
        return _of_each({name: spent - before[name] for name, spent in self.relay.cpu_s().items()}, done)

    def _settle(self) -> None:
        until(lambda: self._waiting() == 0, "all webhooks are handled", _SETTLES_S)

    def _waiting(self) -> int:
        with self.store.reading() as session:
            of = select(func.count()).select_from(Delivery).where(Delivery.state == DeliveryState.RECEIVED)
            return session.scalar(of) or 0


def _of_each(seconds: Mapping[str, float], done: Flood) -> dict[str, float]:
    """Milliseconds for each unit of work."""
    return {name: 1000 * spent / max(1, done.units) for name, spent in seconds.items()}


def _telling_bare(bare: Served) -> Callable[[], int]:
    numbers = count(1)

    def tell() -> int:
        number = next(numbers)
        client = Client(bare.port, 0, 0.0)
        client.ask(post(f"/tell/{number}", b""))
        client.close()
        return number

    return tell


def measure(setup: Setup, size: Size, parts: Collection[str] = PARTS) -> Figures:
    """These parts on one set-up, by two relays one after the other: only the second has backends to tell."""
    figures = Figures(NAMES[setup.name])
    with setup.store() as store, served_bare(setup) as bare, issuing() as issuer:
        if not {"backends", "callbacks"}.issuperset(parts):
            with served_relay(setup) as relay, watching_memory(relay) as figures.memory:
                _measure_runs(Bench(setup, size, store, relay, bare, issuer), figures, parts)
        if not {"backends", "callbacks"}.isdisjoint(parts):
            with served_relay(setup, with_backends(setup, issuer)) as relay:
                _measure_backends(Bench(setup, size, store, relay, bare, issuer, count(1_000_000)), figures, parts)
    return figures


def _measure_runs(bench: Bench, figures: Figures, parts: Collection[str]) -> None:
    if "webhooks" in parts:
        figures.rows.append(bench.webhooks("webhooks"))
    if "results" in parts:
        figures.rows += bench.results()
    if "streams" in parts:
        figures.streams = bench.streams()
    if "memory" in parts:
        with watching_memory(bench.relay) as figures.steady:
            bench.steady()


def _measure_backends(bench: Bench, figures: Figures, parts: Collection[str]) -> None:
    if "backends" in parts:
        figures.rows.append(bench.webhooks(f"webhooks, {len(work.BACKENDS)} backends"))
    if "callbacks" in parts:
        figures.rows.append(bench.callbacks())


def with_backends(setup: Setup, issuer: Issuer) -> dict[str, str]:
    """Settings of a relay whose backends report, with tokens of this issuer."""
    listed = setup.folder / "allowlist.yml"
    listed.write_text(work.allowlist())
    return {
        "RELAY_ALLOWLIST_URL": f"file:{listed}",
        "RELAY_DEV_OIDC_ISSUER": issuer.url,
        "RELAY_CRCR_RATE_PER_MIN": "1000000",
    }


@contextmanager
def issuing() -> Iterator[Issuer]:
    """Signs tokens, and publishes its key on this machine."""
    issuer, app = Issuer(lambda: datetime.now(UTC)), FastAPI()
    app.get("/.well-known/jwks")(issuer.key_set)
    with serving(app) as url:
        issuer.url = url
        yield issuer


def main() -> int:
    """Print a table for each set-up."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that every process ends with it
    usual = Size()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", choices=list(NAMES), action="append", help="one of them only")
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="of each kind of work")
    parser.add_argument("--clients", type=int, default=usual.clients, help="that wait for answers at once")
    parser.add_argument("--streams", type=int, default=usual.streams, help="event streams that are open")
    parser.add_argument("--steady", type=float, default=usual.steady, help="seconds of the load at the end")
    parser.add_argument("--batch", type=int, default=usual.batch, help="results that are sent at once")
    parser.add_argument("--only", choices=PARTS, action="append", help="these parts only")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there as well")
    wanted = parser.parse_args()
    size = Size(wanted.seconds, wanted.clients, wanted.streams, wanted.steady, wanted.batch)
    found: dict[str, Figures] = {}
    for name in wanted.setup or NAMES:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            Path(folder).chmod(0o755)
            found[name] = measure(stack.enter_context(setup(name, Path(folder) / name)), size, wanted.only or PARTS)
        sys.stdout.write(found[name].table() + "\n")
        sys.stdout.flush()
    if wanted.json:
        told = {"options": vars(wanted) | {"json": None}, "set_ups": {name: one.data() for name, one in found.items()}}
        wanted.json.write_text(json.dumps(told, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
