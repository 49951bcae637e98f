"""Connections to the record: after a fork, after the server was restarted, when all are in use, and when one waits."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event, select, text
from sqlalchemy.exc import OperationalError

from relay.store.engine import Store, Turn, open_engine
from relay.store.models import Run
from tests.conftest import MakeDatabase
from tests.relay.worker_story import arrive, new_run


@pytest.fixture
def on_postgres(make_postgres_database: MakeDatabase) -> Iterator[Store]:
    """A record on PostgreSQL."""
    engine = open_engine(make_postgres_database("ready"))
    yield Store(engine)
    engine.dispose()


def in_a_child(what: Callable[[], object]) -> object:
    """What a forked child came to, as text. It ends without what its parent does at its end."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(what())
        except BaseException as error:  # noqa: BLE001  # all a child can do with it is to tell
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_does_not_use_what_its_parent_opened(store: Store) -> None:
    """It has connections of its own, from the engine that it inherited; the parent's are as they were."""
    run_id = arrive(store)
    opened: list[int] = []
    event.listen(store.engine, "connect", lambda *_: opened.append(os.getpid()))

    def read_and_write() -> object:
        with store.reading() as session:
            found = session.get_one(Run, run_id).id
        return found == run_id, arrive(store) > run_id, set(opened) == {os.getpid()}

    with store.reading() as session:
        before = session.scalar(select(Run.id))
        assert in_a_child(read_and_write) == repr((True, True, True))
        assert session.scalar(select(Run.id).order_by(Run.id)) == before
    assert os.getpid() not in opened
    assert arrive(store, new_run("of the parent")) == run_id + 2


def test_a_child_has_not_its_parents_turn_to_write(tmp_path: Path) -> None:
    """A lock on a file that both have open would be held by both."""
    turn = Turn(tmp_path / "turn")

    def take_at_once() -> object:
        fcntl.flock(turn._descriptor(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return "taken"

    with turn:
        assert "BlockingIOError" in str(in_a_child(take_at_once))
    assert in_a_child(take_at_once) == "'taken'"


def test_a_server_that_ended_every_connection_costs_nobody_a_request(on_postgres: Store) -> None:
    """As it does when it is restarted."""
    run_id = arrive(on_postgres)
    with ThreadPoolExecutor(4) as pool:
        held = threading.Barrier(4)

        def hold() -> None:
            with on_postgres.reading() as session:
                session.get_one(Run, run_id)
                held.wait(20)

        list(pool.map(lambda _: hold(), range(4)))
    with on_postgres.engine.connect() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
        assert connection.scalars(text(f"{others} AND pid <> pg_backend_pid()")).all() == [True] * 3
    assert [arrive(on_postgres) for _ in range(4)] == [run_id + number for number in range(1, 5)]


def test_nobody_waits_for_ever(on_postgres: Store) -> None:
    """For a statement, for a row, in a transaction that does nothing; and days begin where the relay's do."""
    with on_postgres.reading() as session:
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            assert session.scalar(text(f"SHOW {name}")) not in {"0", None}
        assert session.scalar(text("SHOW timezone")) == "UTC"
        assert session.scalar(text("SHOW application_name")) == "oot-relay"


@pytest.mark.parametrize("waits", ["statement_timeout", "lock_timeout"])
def test_who_waits_too_long_may_try_again(on_postgres: Store, waits: str) -> None:
    """It is told as a record that cannot be reached is told, and the connection is of use afterwards."""
    run_id = arrive(on_postgres)
    change = text("UPDATE runs SET title = 'x' WHERE id = :id")
    with on_postgres.writing() as first:
        first.execute(change, {"id": run_id})
        with on_postgres.reading() as second:
            second.execute(text(f"SET LOCAL {waits} = 50"))
            with pytest.raises(OperationalError):
                second.execute(change, {"id": run_id})
    with on_postgres.writing() as again:
        again.execute(change, {"id": run_id})


def test_a_schema_of_another_version_is_a_record_that_cannot_be_used(store: Store) -> None:
    """On both databases: while replicas are upgraded, whoever asks is told to try again."""
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE runs RENAME TO lost"))
    with pytest.raises(OperationalError), store.reading() as session:
        session.scalars(select(Run)).all()


def test_who_finds_no_connection_free_is_told_what_to_do(app: FastAPI) -> None:
    """Within seconds, and with 503 rather than as a fault of the relay."""
    pool = app.state.relay.store.engine.pool
    pool._timeout, most = 0.05, pool.size() + pool._max_overflow
    held = [pool.connect() for _ in range(most)]
    answer = TestClient(app, raise_server_exceptions=False).get("/api/v1/runs")
    for connection in held:
        connection.close()
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert answer.json()["code"] == "database_unavailable"
    assert "start more replicas" in answer.json()["hint"]
    assert TestClient(app).get("/api/v1/runs").is_success


def test_a_server_that_says_nothing_is_given_up_soon() -> None:
    """Whoever connects to it is told within the time that a caller of the relay has."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = open_engine(f"postgresql+psycopg://relay@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2")
        begun = time.monotonic()
        with pytest.raises(OperationalError):
            engine.connect()
        assert time.monotonic() - begun < 20
        engine.dispose()
