"""Carries what was committed over from SQLite's log to its database file, apart from those who commit.

SQLite has the one who commits do that now and then, which waits for the disk for tens of milliseconds, and all other
writers with it. Done here it holds up nobody (https://sqlite.org/wal.html, "passive"). PostgreSQL does it by itself.
"""

from __future__ import annotations

import sqlite3
import threading

import structlog
from sqlalchemy.exc import SQLAlchemyError

from relay.store.engine import Store

_log = structlog.get_logger(__name__)

_EVERY_S = 2.0


class Checkpoints:
    """Does it every few seconds, between `start` and `stop`; nothing at all where the record is not SQLite."""

    def __init__(self, store: Store, *, every_s: float = _EVERY_S) -> None:
        self._engine = store.engine
        self._every_s = every_s
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin."""
        if self._engine.dialect.name == "sqlite":
            self._thread = threading.Thread(target=self._run, name="relay-checkpoints", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, after a last one."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        ending = False
        while not ending:
            ending = self._stopping.wait(self._every_s)
            try:
                self._carry_over()
            except (sqlite3.Error, SQLAlchemyError, OSError) as fault:  # by the driver, nothing is wrapped
                _log.warning("checkpoint_failed", fault=type(fault).__name__)

    def _carry_over(self) -> None:
        # By the driver: in a transaction, which SQLAlchemy would begin, SQLite refuses.
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)").close()
        finally:
            connection.close()
