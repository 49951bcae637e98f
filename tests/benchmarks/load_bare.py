"""What the service is measured beside: the barest programs that do the same kind of work, on the same database.

`python -m tests.benchmarks.load_bare DATABASE_URL` serves three handlers on a free port, which it prints, until its
standard input ends: `/echo` answers a body with itself, `/insert` keeps it in one committed INSERT by the service's own
engine, `/stream` tells everybody who listens, at once, of every `/tell`. `insert_batches` is the database alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack

import psycopg
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from sqlalchemy import Column, Integer, LargeBinary, MetaData, Table, make_url
from starlette.concurrency import run_in_threadpool

from relay.cli.foreground import started
from relay.machine.listening import listen
from relay.machine.web_thread import web_thread
from relay.store.engine import Store, open_engine
from tests.benchmarks.load_client import Flood

BODIES = Table("load_bodies", MetaData(), Column("id", Integer, primary_key=True), Column("body", LargeBinary))
#: A row as wide as one attempt at a test.
_ROWS = (
    "CREATE TABLE load_rows (id INTEGER PRIMARY KEY, test INTEGER NOT NULL, tree VARCHAR(32) NOT NULL,"
    " number INTEGER NOT NULL, observation VARCHAR(32) NOT NULL, duration_s FLOAT NOT NULL, detail TEXT NOT NULL)"
)
_COLUMNS = "(test, tree, number, observation, duration_s, detail)"


def bare_app(store: Store) -> FastAPI:
    """The three handlers."""
    app = FastAPI()
    _add_handlers(app, store)
    _add_stream(app)
    return app


def _add_handlers(app: FastAPI, store: Store) -> None:
    def keep(body: bytes) -> None:
        with store.writing() as session:
            session.execute(BODIES.insert().values(body=body))

    @app.post("/insert")
    async def insert(request: Request) -> JSONResponse:
        await run_in_threadpool(keep, await request.body())
        return JSONResponse({"ok": True})

    @app.post("/echo")
    async def echo(request: Request) -> Response:
        return Response(await request.body(), media_type="application/json")


def _add_stream(app: FastAPI) -> None:
    listening: set[asyncio.Queue[int]] = set()

    @app.get("/stream", response_class=EventSourceResponse)
    async def stream() -> AsyncIterator[ServerSentEvent]:
        mine: asyncio.Queue[int] = asyncio.Queue()
        listening.add(mine)
        try:
            yield ServerSentEvent(event="ready", data={})
            while True:
                yield ServerSentEvent(data={}, id=str(await mine.get()))
        finally:
            listening.discard(mine)

    @app.post("/tell/{number}")
    async def tell(number: int) -> JSONResponse:
        for one in listening:
            one.put_nowait(number)
        return JSONResponse({"ok": True})


def insert_batches(url: str, batch: int, seconds: float) -> Flood:
    """Batches of rows by the driver itself, each committed, by one client: rows in a second."""
    flood, begun = Flood(), time.perf_counter()
    with ExitStack() as stack:
        insert = _sqlite(url, stack) if url.startswith("sqlite") else _postgresql(url, stack)
        while True:
            now = time.perf_counter()
            insert([(number, "head", 1, "passed", 0.01, "") for number in range(batch)])
            flood.latencies.append(time.perf_counter() - now)
            flood.units += batch
            if now >= begun + seconds:
                break
    flood.seconds = time.perf_counter() - begun
    return flood


class _Insert:
    """Rows by `executemany`, committed."""

    def __init__(self, connection: sqlite3.Connection | psycopg.Connection, sign: str) -> None:
        self._connection = connection
        self._statement = f"INSERT INTO load_rows {_COLUMNS} VALUES ({', '.join([sign] * 6)})"  # noqa: S608  # our own

    def __call__(self, rows: Sequence[tuple[object, ...]]) -> None:
        cursor = self._connection.cursor()
        cursor.executemany(self._statement, rows)
        self._connection.commit()


def _sqlite(url: str, stack: ExitStack) -> _Insert:
    connection = sqlite3.connect(str(make_url(url).database))
    stack.callback(connection.close)
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("DROP TABLE IF EXISTS load_rows")
    connection.execute(_ROWS)
    return _Insert(connection, "?")


def _postgresql(url: str, stack: ExitStack) -> _Insert:
    connection = stack.enter_context(psycopg.connect(url))
    connection.execute("DROP TABLE IF EXISTS load_rows")
    connection.execute(_ROWS.replace("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY").encode())
    connection.commit()
    return _Insert(connection, "%s")


def main() -> int:
    """Serve the handlers."""
    with ExitStack() as stack:
        store = Store(open_engine(sys.argv[1]))
        stack.callback(store.engine.dispose)
        BODIES.create(store.engine, checkfirst=True)
        listener = stack.enter_context(listen("127.0.0.1", 0))
        stack.enter_context(web_thread(bare_app(store), listener, drain_s=1))
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        started()
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
