"""Many open streams of server-sent events, and how long an event takes to reach each of them.

A stream is a socket that is read as it comes; all are read by one event loop in a thread of its own.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from random import Random

from sqlalchemy import select, text

from relay.store.engine import Store
from relay.store.models import Run, RunEvent
from tests.waiting import until

_ID = re.compile(rb"^id: (\d+)\r?$", re.MULTILINE)
_READY = b"event: ready"
_ARRIVES_S = 20.0
_STOPS_WITHIN_S = 0.1


@dataclass
class Streams:
    """What came by the streams: for each event id the moments it arrived at one of them."""

    wanted: int
    ready: int = 0
    arrived: dict[int, list[float]] = field(default_factory=dict)

    def latencies(self, sent: Mapping[int, float]) -> list[float]:
        """Seconds from sending each event to its arrival, for every stream."""
        return [at - moment for number, moment in sent.items() for at in self.arrived.get(number, [])]

    def wait_for(self, sent: Mapping[int, float]) -> None:
        """Until every event has come by every stream."""
        until(lambda: all(len(self.arrived.get(number, [])) >= self.wanted for number in sent), "it came", _ARRIVES_S)

    async def read(self, port: int, path: str) -> None:
        """Follow one stream for good."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        began = False
        try:
            while line := await reader.readline():
                if not began and line.startswith(_READY):
                    began = True
                    self.ready += 1
                elif began and (found := _ID.match(line)):
                    self.arrived.setdefault(int(found[1]), []).append(time.perf_counter())
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@contextmanager
def open_streams(port: int, path: str, streams: int) -> Iterator[Streams]:
    """So many streams, all of them begun."""
    opened, stop = Streams(streams), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_read_all(opened, port, path, stop)), name="streams")
    thread.start()
    try:
        until(lambda: opened.ready == streams, f"{streams} streams are open", _ARRIVES_S)
        yield opened
    finally:
        stop.set()
        thread.join()


async def _read_all(opened: Streams, port: int, path: str, stop: threading.Event) -> None:
    readers = [asyncio.create_task(opened.read(port, path)) for _ in range(opened.wanted)]
    while not stop.is_set():
        await asyncio.sleep(_STOPS_WITHIN_S)
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)


def at_random(seconds: float, rate: float, tell: Callable[[], int]) -> dict[int, float]:
    """Call `tell` at random moments, about `rate` times a second; by the number it gives, when it was called: what is
    told may arrive before the call returns."""
    chance, sent = Random(7), dict[int, float]()  # noqa: S311  # moments, no secret
    due = begun = time.perf_counter()
    while (due := due + chance.expovariate(rate)) < begun + seconds:
        time.sleep(max(0.0, due - time.perf_counter()))
        called = time.perf_counter()
        sent[tell()] = called
    return sent


def telling_events(store: Store, *, also: str = "") -> Callable[[], int]:
    """Writes a line into the history of the newest run, as anything that happens to it does; the event's id. `also` is
    a statement of the same transaction."""
    with store.reading() as session:
        run = session.scalars(select(Run.id).order_by(Run.id.desc()).limit(1)).one()
    numbers = count(1)

    def tell() -> int:
        with store.writing() as session:
            event = RunEvent(run_id=run, at=datetime.now(UTC), kind="load", text=f"Event {next(numbers)}.")
            session.add(event)
            session.flush()
            if also:
                session.execute(text(also))
            return event.id

    return tell
