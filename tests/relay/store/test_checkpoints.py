"""What was committed is carried over to the database file by a thread of its own, not by those who commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from relay.store.checkpoints import Checkpoints
from relay.store.engine import Store, open_engine, upgrade_database
from tests.waiting import until

PAGES = 3_000
WAIT_S = 30


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "relay.db"


@pytest.fixture
def record(file: Path) -> Store:
    engine = open_engine(f"sqlite:///{file}")
    upgrade_database(engine)
    store = Store(engine)
    with store.writing() as session:
        session.execute(text("CREATE TABLE much (it BLOB)"))
    return store


def fill(store: Store, pages: int) -> None:
    for _ in range(pages // 100):
        with store.writing() as session:
            session.execute(text("INSERT INTO much VALUES (zeroblob(:size))"), {"size": 100 * 4096})


def test_who_commits_does_not_wait_for_the_disk(record: Store, file: Path) -> None:
    """However much more it is than what SQLite carries over by itself, which is a thousand pages."""
    before = file.stat().st_size
    fill(record, PAGES)
    assert file.stat().st_size == before
    record.engine.dispose()


def test_it_is_carried_over_soon(record: Store, file: Path) -> None:
    """While readers and writers go on."""
    checkpoints = Checkpoints(record, every_s=0.05)
    checkpoints.start()
    fill(record, PAGES)
    with record.writing() as session:
        session.execute(text("INSERT INTO much VALUES (zeroblob(1))"))
        until(lambda: file.stat().st_size > PAGES * 4096, seconds=WAIT_S)
    checkpoints.stop()
    record.engine.dispose()


def test_what_is_left_is_carried_over_at_the_end(record: Store, file: Path) -> None:
    checkpoints = Checkpoints(record, every_s=3600)
    checkpoints.start()
    fill(record, PAGES)
    checkpoints.stop()
    assert file.stat().st_size > PAGES * 4096
    record.engine.dispose()


def test_where_nobody_does_it_the_log_still_has_an_end(record: Store, file: Path) -> None:
    """A record that is only written to does not fill the disk twice."""
    for _ in range(3):
        fill(record, 16_400)
    log = file.with_name("relay.db-wal")
    assert log.stat().st_size < 2 * 16_400 * 4096
    record.engine.dispose()


def test_a_database_that_is_away_does_not_end_it(tmp_path: Path) -> None:
    """It is said, and tried again."""
    store = Store(open_engine(f"sqlite:///{tmp_path / 'gone' / 'relay.db'}"))
    (tmp_path / "gone").rmdir()
    checkpoints = Checkpoints(store, every_s=0.02)
    with capture_logs() as logged:
        checkpoints.start()
        until(lambda: len(logged) > 1, seconds=WAIT_S)
        checkpoints.stop()
    assert {line["event"] for line in logged} == {"checkpoint_failed"}


def test_postgresql_does_it_by_itself(tmp_path: Path) -> None:
    """No thread, and nobody is asked."""
    store = Store(open_engine("postgresql://nobody@127.0.0.1:1/none"))
    checkpoints = Checkpoints(store, every_s=0.01)
    with capture_logs() as logged:
        checkpoints.start()
        checkpoints.stop()
    assert logged == []
