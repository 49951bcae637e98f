"""How the record is reached: one engine per process, reading and writing sessions, and the schema upgrade.

Writing sessions take SQLite's write lock at once (BEGIN IMMEDIATE): a transaction that reads first and writes later
fails there whatever the timeout. No session may be held across an HTTP call.
"""

from __future__ import annotations

import fcntl
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import ArgumentError, OperationalError
from sqlalchemy.orm import Session

from relay.errors import SettingsError
from relay.store.forks import start_anew_in_children

_SQLITE_WAIT_MS = 30_000
#: Pages of 4 KiB. Who commits beyond that carries them over to the database and waits for the disk, with everybody
#: behind; a background does it before (`relay.store.checkpoints`), this is for where there is none.
_LONGEST_WAL_PAGES = 16_384
#: A process answers 40 requests at a time. Who waits longer for a connection is told so, and may try again.
_POOL: dict[str, Any] = {"pool_size": 10, "max_overflow": 30, "pool_timeout": 10}
#: A server that is gone without a word is noticed after a minute, one that does not answer a newcomer after 5 s.
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,
    "application_name": "oot-relay",
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
#: What a statement may last, what it may wait for a row, and how long a transaction may do nothing, in milliseconds.
#: Far above what the relay needs; beyond that somebody waits for somebody who will not come.
_LIMITS = {
    "statement_timeout": "60000",
    "lock_timeout": "20000",
    "idle_in_transaction_session_timeout": "60000",
    "timezone": "UTC",
}
#: A standby that took over and cannot write yet; a table or column that is not there, for the schema is another's.
_UNUSABLE = frozenset({"25006", "42P01", "42703"})
_WRITE_OPTION = "relay_write"
#: As SQLite reads anyhow. By PostgreSQL's own default each statement sees what was committed before it: a page would
#: have the state of a run from before its end, and events from after it.
_ONE_MOMENT: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
#: Any fixed number: the advisory lock that lets one of several starting replicas migrate.
_MIGRATION_LOCK = 7_301_994


class Turn:
    """Whose turn it is to write. SQLite has one writer, and who waits inside SQLite sleeps for up to 100 ms at a time,
    whoever is done meanwhile; who waits here goes on at once. One lock is for the threads of this process, which a file
    lock does not tell apart, and one for the processes of this machine; both end with their holder."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._threads = threading.Lock()
        self._open: int | None = None
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """In a child: the open file is the parent's, and a lock on it would be held by both."""
        self._threads = threading.Lock()
        self._open = None

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            fcntl.flock(self._descriptor(), fcntl.LOCK_EX)
        except BaseException:
            self._threads.release()
            raise

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._descriptor(), fcntl.LOCK_UN)
        self._threads.release()

    def _descriptor(self) -> int:
        """Opened by the first who writes: a record may be read where nothing can be written."""
        if self._open is None:
            self._open = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            weakref.finalize(self, os.close, self._open)
        return self._open


class Store:
    """Sessions on one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        on_server = engine.dialect.name == "postgresql"
        self._reading_engine = engine.execution_options(**_ONE_MOMENT) if on_server else engine
        self._writing_engine = engine.execution_options(**{_WRITE_OPTION: True})
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        self._turn: AbstractContextManager[object] = Turn(Path(f"{file}.turn")) if file else nullcontext()
        start_anew_in_children(self)

    def start_anew(self) -> None:
        """In a child: with connections of its own."""
        self.engine.dispose(close=False)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session for queries, all of which see the record at one moment; nothing is written."""
        with Session(self._reading_engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session in one transaction: committed at the end, rolled back when the block raises."""
        with self._turn, Session(self._writing_engine, expire_on_commit=False) as session, session.begin():
            yield session


def open_engine(url: str) -> Engine:
    """An engine for a SQLite file or a PostgreSQL server.

    Raises:
        SettingsError: the URL cannot be read or names another database.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingsError(
            "RELAY_DATABASE_URL cannot be read; write sqlite:////path/file or postgresql://..."
        ) from error
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return _sqlite_engine(url, _database_file(parsed.database))
    if backend == "postgresql":
        return _postgres_engine(parsed)
    raise SettingsError(f"RELAY_DATABASE_URL names {backend}; the relay keeps its record in SQLite or PostgreSQL.")


def _database_file(database: str | None) -> Path:
    """The file of the record, in a folder that exists then."""
    if not database or database == ":memory:":
        raise SettingsError("RELAY_DATABASE_URL names no file: the record must outlive the process.")
    file = Path(database)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"The folder of the record {database} cannot be made: {error.strerror}.") from error
    return file


def _postgres_engine(url: URL) -> Engine:
    """What the address says itself counts more than what is said here."""
    connecting = {name: value for name, value in _CONNECTING.items() if name not in url.query}
    # Asked before it is used: a server that was restarted costs one connection more, not one failed request each.
    engine = create_engine(url, **_POOL, pool_pre_ping=True, connect_args=connecting)

    @event.listens_for(engine, "connect")
    def _limit(connection: Any, _record: object) -> None:
        # Not as `options` of the connection, which poolers between us and the server refuse.
        with connection.cursor() as cursor:
            for name, value in _LIMITS.items():
                cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
        connection.commit()

    event.listen(engine, "handle_error", _told_alike)
    return engine


def _told_alike(fault: ExceptionContext) -> None:
    """Tell of a record that cannot be used as SQLite's driver does, whose users wait and try again."""
    error = fault.original_exception
    if getattr(error, "sqlstate", None) in _UNUSABLE:
        raise OperationalError(fault.statement, fault.parameters, error) from error


def _sqlite_engine(url: str, file: Path) -> Engine:
    engine = create_engine(url, **_POOL, connect_args={"timeout": _SQLITE_WAIT_MS / 1000})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        # The driver's own transaction handling would begin late and plainly; `_begin` below is the only beginning.
        connection.isolation_level = None
        cursor = connection.cursor()
        with _one_at_a_time(file):
            cursor.execute("PRAGMA journal_mode = WAL")
        for pragma in ("synchronous = NORMAL", "foreign_keys = ON", f"wal_autocheckpoint = {_LONGEST_WAL_PAGES}"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get(_WRITE_OPTION, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


@contextmanager
def _one_at_a_time(file: Path) -> Iterator[None]:
    """Hold a lock of our own beside the database. Two connections that turn a fresh file to WAL at once can stand in
    each other's way, and SQLite then answers "locked" at once, whatever the busy timeout is.
    """
    with file.with_name(f"{file.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def upgrade_database(engine: Engine) -> None:
    """Bring the schema to the newest version. Safe when several replicas start at once: one migrates, the others wait
    and find nothing to do."""
    config = Config()
    config.set_main_option("script_location", "relay.store:migrations")
    with engine.execution_options(**{_WRITE_OPTION: True}).begin() as connection:
        if engine.dialect.name == "postgresql":
            # A step over a large table lasts, and so do those who wait for who takes it.
            for name in ("statement_timeout", "lock_timeout"):
                connection.execute(text(f"SET LOCAL {name} = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
