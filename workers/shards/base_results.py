"""What tests did on a base, kept between shards: a base is compared with by many changes, and does the same each time.

Owns the cache's file, shared by the worker processes of a machine, and the rule which observations are kept. What the
key is made of is `base_identity.py`'s. A cache that cannot be used costs a test run on base and nothing else, so its
errors are logged and never passed on.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import structlog
from pydantic import ValidationError

from relay.contract import Attempt, Observation, Tree
from workers.shards.report import capped

log = structlog.get_logger(__name__)

#: Kept observations. A crash and a missed limit depend on what else the machine does, a missing test on our own runner;
#: seeing them again costs one process, taking them for granted could excuse a change.
STABLE = frozenset({Observation.PASSED, Observation.FAILED, Observation.SKIPPED})
MAX_TESTS = 50_000
_DETAIL_CAP = 2_000
_WAIT_S = 10.0
#: SQLite's oldest limit of parameters in a statement is 999.
_ASKED_AT_ONCE = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS seen (
    base TEXT NOT NULL, test TEXT NOT NULL, attempts TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (base, test)
) WITHOUT ROWID
"""


class BaseResults(Protocol):
    """What is known of tests on the base of one change."""

    def known(self, tests: Sequence[str]) -> Mapping[str, tuple[Attempt, ...]]:
        """The attempts of earlier runs, marked as reused, for those of the tests that have any."""
        ...

    def remember(self, seen: Mapping[str, Sequence[Attempt]]) -> None:
        """Keep what was seen just now, as far as it is stable."""
        ...


class NothingKnown:
    """A base without a memory."""

    def known(self, tests: Sequence[str]) -> Mapping[str, tuple[Attempt, ...]]:
        del tests
        return {}

    def remember(self, seen: Mapping[str, Sequence[Attempt]]) -> None:
        del seen


@dataclass(frozen=True, slots=True)
class CachedBase:
    """The memory of one base: `identity` names everything its observations depend on."""

    store: ObservationStore
    identity: str

    def known(self, tests: Sequence[str]) -> Mapping[str, tuple[Attempt, ...]]:
        return self.store.load(self.identity, tests)

    def remember(self, seen: Mapping[str, Sequence[Attempt]]) -> None:
        stable = {
            test: attempts
            for test, attempts in seen.items()
            if attempts and all(attempt.observation in STABLE for attempt in attempts)
        }
        if stable:
            self.store.save(self.identity, stable)


@dataclass(frozen=True, slots=True)
class ObservationStore:
    """One SQLite file with the attempts at up to about `max_tests` tests; the oldest go first. `now` is in seconds."""

    file: Path
    max_tests: int = MAX_TESTS
    now: Callable[[], float] = time.time

    def load(self, identity: str, tests: Sequence[str]) -> dict[str, tuple[Attempt, ...]]:
        """The attempts on record, by test."""
        found: dict[str, tuple[Attempt, ...]] = {}

        def ask(connection: sqlite3.Connection) -> None:
            for start in range(0, len(tests), _ASKED_AT_ONCE):
                part = tests[start : start + _ASKED_AT_ONCE]
                marks = ",".join("?" * len(part))
                # The statement holds question marks only; no text of a test is part of it.
                query = f"SELECT test, attempts FROM seen WHERE base = ? AND test IN ({marks})"  # noqa: S608 - see above
                rows = connection.execute(query, (identity, *part))
                found.update((test, attempts) for test, text in rows if (attempts := _read(text)))

        if self.file.exists():
            self._use(ask)
        return found

    def save(self, identity: str, seen: Mapping[str, Sequence[Attempt]]) -> None:
        """Put the attempts in the place of older ones."""
        at = self.now()
        rows = [(identity, test, _write(attempts), at) for test, attempts in seen.items()]

        def put(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", rows)
                self._forget(connection)

        self._use(put)

    def _forget(self, connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("SELECT count(*) FROM seen").fetchone()
        if count > self.max_tests:
            # A tenth more than necessary, so that not every shard has to sort.
            surplus = count - self.max_tests + self.max_tests // 10
            oldest = "SELECT base, test FROM seen ORDER BY at, base, test LIMIT ?"
            connection.execute(f"DELETE FROM seen WHERE (base, test) IN ({oldest})", (surplus,))  # noqa: S608 - as above

    def _use(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do the work, or say in the log why it cannot be done."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.file, timeout=_WAIT_S, isolation_level=None)) as connection:
                connection.execute(_SCHEMA)
                work(connection)
        except (sqlite3.Error, OSError) as error:
            log.warning("the cache of base results cannot be used", file=str(self.file), error=str(error))
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                self.file.unlink(missing_ok=True)  # damaged: the next shard begins a new one


def _write(attempts: Sequence[Attempt]) -> str:
    rows = [[attempt.observation, attempt.duration_s, capped(attempt.detail, _DETAIL_CAP)] for attempt in attempts]
    return json.dumps(rows)


def _read(text: str) -> tuple[Attempt, ...]:
    """The attempts of a row; none when it is not one that this version wrote."""
    try:
        rows = [(Observation(seen), float(duration), str(detail)) for seen, duration, detail in json.loads(text)]
        return tuple(
            Attempt(tree=Tree.BASE, number=number, observation=seen, duration_s=duration, detail=detail, reused=True)
            for number, (seen, duration, detail) in enumerate(rows, start=1)
        )
    except (ValueError, TypeError, ValidationError):
        return ()
