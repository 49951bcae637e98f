"""Whether PostgreSQL should tell the live pages of events, or be asked: `python -m tests.benchmarks.bench_events`.

A process that has open streams asks for new events twice a second (`relay.web.live.events`). Here that stands against
LISTEN/NOTIFY at its best: one connection that listens, and asks at once for what it was told of. For 1 and for 200
streams: how long an event takes from its commit to every stream, how many transactions that costs the database, and how
much of a processor the server's processes take; and how many events some writers can commit with and without NOTIFY,
for which every one of them waits for the same lock at its commit
(https://www.postgresql.org/docs/current/sql-notify.html).
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import structlog
from sqlalchemy import text

from relay.runs.event_listing import events_since, newest_event_id
from relay.store.engine import Store, open_engine, upgrade_database
from relay.web.live.events import LiveEvents
from tests.benchmarks.load_figures import milliseconds
from tests.benchmarks.load_setups import children, cpu_s, postgres
from tests.benchmarks.load_streams import at_random, telling_events
from tests.benchmarks.load_work import add_planned_runs
from tests.waiting import until

_CHANNEL = "relay_events"
_BATCH = 500
_WRITERS = 8
_ARRIVES_S = 20.0


@dataclass
class Seen:
    """The moments at which each event arrived at one of the streams."""

    streams: int
    arrived: dict[int, list[float]] = field(default_factory=dict)

    def note(self, event_id: int) -> None:
        """It arrived somewhere."""
        self.arrived.setdefault(event_id, []).append(time.perf_counter())

    def all_of(self, event_ids: Iterable[int]) -> bool:
        """Whether these have arrived everywhere."""
        return all(len(self.arrived.get(one, ())) >= self.streams for one in event_ids)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to learn of events. Transactions are of the database in a second, `busy` is the percentage of a
    processor that the server's processes took."""

    name: str
    streams: int
    latencies: list[float]
    transactions: float
    busy: float

    def line(self) -> str:
        """For people."""
        p50, p99 = milliseconds(self.latencies, 50), milliseconds(self.latencies, 99)
        told = f"{self.name:8}{self.streams:5} streams  p50 {p50:8.1f} ms  p99 {p99:8.1f} ms"
        return f"{told}  {self.transactions:6.1f} transactions/s  server {self.busy:5.1f} %"


@contextmanager
def polling(store: Store, _url: str, seen: Seen) -> Iterator[None]:
    """As the product does: its reader, and so many followers of it."""
    live, stop, ready = LiveEvents(store), threading.Event(), threading.Semaphore(0)

    async def follow() -> None:
        with live.following() as follower:
            await follower.begin()
            ready.release()
            while True:
                for told in (await follower.news()).told:
                    seen.note(told.event_id)

    with _loop(lambda: [follow() for _ in range(seen.streams)], stop):
        for _ in range(seen.streams):
            ready.acquire()
        yield


@contextmanager
def listening(store: Store, url: str, seen: Seen) -> Iterator[None]:
    """One connection that is told, a look at the record for each telling, and a queue for each stream."""
    with store.reading() as session:
        last = newest_event_id(session)
    queues: list[asyncio.Queue[int]] = []
    loops: list[asyncio.AbstractEventLoop] = []
    stop, ready = threading.Event(), threading.Semaphore(0)

    async def follow() -> None:
        mine: asyncio.Queue[int] = asyncio.Queue()
        queues.append(mine)
        loops.append(asyncio.get_running_loop())
        ready.release()
        while True:
            seen.note(await mine.get())

    def listen(connection: psycopg.Connection, after: int) -> None:
        while not stop.is_set():
            if not list(connection.notifies(timeout=0.2, stop_after=1)):
                continue
            with store.reading() as session:
                events = events_since(session, after, limit=_BATCH)
            for event in events:
                after = event.id
                for loop, queue in zip(loops, queues, strict=True):
                    loop.call_soon_threadsafe(queue.put_nowait, event.id)

    with (
        psycopg.connect(url, autocommit=True) as connection,
        _loop(lambda: [follow() for _ in range(seen.streams)], stop),
    ):
        connection.execute(f"LISTEN {_CHANNEL}".encode())
        for _ in range(seen.streams):
            ready.acquire()
        thread = threading.Thread(target=listen, args=(connection, last))
        thread.start()
        yield
        stop.set()
        thread.join()


@contextmanager
def _loop(followers: Callable[[], list[Coroutine[Any, Any, None]]], stop: threading.Event) -> Iterator[None]:
    """All followers in one event loop, in a thread, as in a process that serves."""

    async def run() -> None:
        tasks = [asyncio.create_task(one) for one in followers()]
        while not stop.is_set():
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL server with a record on it."""

    url: str
    pid: int
    store: Store

    def transactions(self) -> int:
        """Of the record so far."""
        query = text("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()")
        with self.store.engine.connect() as connection:
            connection.exec_driver_sql("SELECT pg_stat_force_next_flush()")
            return int(connection.execute(query).scalar_one())

    def cpu_s(self) -> float:
        """Processor seconds of all its processes that live."""
        return sum(map(cpu_s, (self.pid, *children(self.pid))))


WAYS = {"polling": (polling, ""), "LISTEN": (listening, f"NOTIFY {_CHANNEL}")}


def measure(server: Server, name: str, streams: int, seconds: float, rate: float) -> Way:
    """One way with so many streams, while events come at random."""
    opened, also = WAYS[name]
    seen, tell = Seen(streams), telling_events(server.store, also=also)
    with opened(server.store, server.url, seen):
        transactions, spent, begun = server.transactions(), server.cpu_s(), time.perf_counter()
        sent = at_random(seconds, rate, tell)
        until(lambda: seen.all_of(sent), "all events have come", _ARRIVES_S)
        took = time.perf_counter() - begun
        found = [at - moment for one, moment in sent.items() for at in seen.arrived[one]]
        transactions = server.transactions() - transactions - len(sent)
        return Way(name, streams, found, transactions / took, 100 * (server.cpu_s() - spent) / took)


def commits(server: Server, also: str, seconds: float) -> float:
    """Events that some writers commit in a second, all at once."""
    deadline = time.perf_counter() + seconds
    tell = telling_events(server.store, also=also)

    def write(_: int) -> int:
        done = 0
        while time.perf_counter() < deadline:
            tell()
            done += 1
        return done

    with ThreadPoolExecutor(_WRITERS) as pool:
        return sum(pool.map(write, range(_WRITERS))) / seconds


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """A server with a run on record."""
    with postgres(folder) as (url, pid):
        engine = open_engine(url)
        upgrade_database(engine)
        store = Store(engine)
        add_planned_runs(store, count(1), 1, shards_in_a_run=1)
        yield Server(url, pid, store)
        engine.dispose()


def main() -> int:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement")
    parser.add_argument("--rate", type=float, default=5.0, help="events in a second")
    parser.add_argument("--streams", type=int, action="append", help="1 and 200 if left out")
    wanted = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with served(Path(folder)) as server:
            for streams in wanted.streams or (1, 200):
                for name in WAYS:
                    way = measure(server, name, streams, wanted.seconds, wanted.rate)
                    sys.stdout.write(way.line() + "\n")
                    sys.stdout.flush()
            for name, (_, also) in WAYS.items():
                told = commits(server, also, wanted.seconds / 2)
                sys.stdout.write(f"{name:8}{_WRITERS:5} writers  {told:8.0f} events/s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
