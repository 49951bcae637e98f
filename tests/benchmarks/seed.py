"""A record as large as months of use: `python -m tests.benchmarks.seed sqlite:////tmp/seeded/relay.db`.

1,000,000 test results in 5,000 runs, 300 considered tests for each selection, 20,000 reports of backends. Takes about a
minute. `--runs` makes a smaller one. The database must be empty.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import cast

from sqlalchemy import Connection, Table, text

from relay.store.crcr_models import CrcrResult, OutboxItem
from relay.store.engine import Store, open_engine, upgrade_database
from relay.store.log_models import LogChunk, ShardLog
from relay.store.models import Base, Delivery, PlannedTest, Run, RunEvent, Selection, Shard, TestAttempt
from relay.store.presence_models import Worker
from relay.upgrade.keeping import keep_report, read_publication
from tests.benchmarks import seed_backend_rows as backends
from tests.benchmarks import seed_log_rows as logs
from tests.benchmarks import seed_rows as rows
from tests.benchmarks.bulk import Row, write
from tests.benchmarks.seed_rows import SeededRun, Size
from tests.relay.upgrade_story import upgrade_text


def seed(store: Store, size: Size, now: datetime) -> list[SeededRun]:
    """Fill an empty record that has the newest schema. The runs that are in it then."""
    told = list(rows.story(size, now))
    engine = store.engine.execution_options(relay_write=True)
    for model, made in _made(told, size, now):
        # A transaction for each table, so that SQLite's journal of it stays small.
        with engine.begin() as connection:
            write(connection, cast("Table", model.__table__), made)
    with store.writing() as session:
        keep_report(session, read_publication(upgrade_text(size.upgraded)), "release duty", now)
    _take_stock(store)
    return told


def _made(told: list[SeededRun], size: Size, now: datetime) -> Iterable[tuple[type[Base], Iterable[Row]]]:
    """In the order in which rows may refer to each other."""
    yield Run, rows.runs(told)
    yield Shard, rows.shards(told, now)
    yield Worker, rows.workers(now)
    yield PlannedTest, rows.tests(told, size)
    yield TestAttempt, rows.attempts(told, size)
    yield Selection, rows.selections(told, size)
    yield RunEvent, rows.events(told)
    yield ShardLog, logs.shard_logs(told)
    yield LogChunk, logs.log_chunks(told)
    yield CrcrResult, backends.reports(told, size)
    yield Delivery, backends.deliveries(told, size)
    yield OutboxItem, backends.outbox(size, now)


def _take_stock(store: Store) -> None:
    """Let the database know how its values are spread, as it does by itself in time."""
    with store.engine.connect() as connection:
        _analyse(connection)


def _analyse(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM ANALYZE"))


def main() -> int:
    """Seed the database of the address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="of an empty database, as RELAY_DATABASE_URL")
    parser.add_argument("--runs", type=int, default=Size().runs)
    wanted = parser.parse_args()
    engine = open_engine(wanted.url)
    upgrade_database(engine)
    begun = time.perf_counter()
    told = seed(Store(engine), Size(runs=wanted.runs), datetime.now(UTC))
    sys.stdout.write(f"{len(told)} runs in {time.perf_counter() - begun:.0f} s\n")
    engine.dispose()
    return 0


if __name__ == "__main__":
    sys.exit(main())
