"""Writers of one machine take turns by themselves, and do not lean on SQLite's patience."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, select, text
from sqlalchemy.exc import OperationalError

from relay.outbox.queue import NewItem, enqueue_all
from relay.store.crcr_models import OutboxItem, OutboxKind
from relay.store.engine import Store, open_engine, upgrade_database
from tests.relay.stories import START


def test_writers_that_meet_all_write(tmp_path: Path) -> None:
    """SQLite refuses here at once whoever finds it taken."""
    engine = open_engine(f"sqlite:///{tmp_path / 'relay.db'}")

    @event.listens_for(engine, "connect")
    def _impatient(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA busy_timeout = 0")

    upgrade_database(engine)
    store = Store(engine)

    def write(number: int) -> None:
        with store.writing() as session:
            assert session.scalar(text("PRAGMA busy_timeout")) == 0
            enqueue_all(session, [NewItem(OutboxKind.HUD, f"{number}", "lane", "hud", {})], START)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(OutboxItem)) == 80
    engine.dispose()


def test_writers_of_two_processes_take_turns(tmp_path: Path) -> None:
    """Each waits outside of SQLite, which would put it to sleep: here it would refuse at once."""
    url = f"sqlite:///{tmp_path / 'relay.db'}"
    stores = [Store(open_engine(url)), Store(open_engine(url))]
    for store in stores:
        event.listen(store.engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout = 0"))
    upgrade_database(stores[0].engine)

    def write(number: int) -> None:
        with stores[number % 2].writing() as session:
            assert session.scalar(text("PRAGMA busy_timeout")) == 0
            enqueue_all(session, [NewItem(OutboxKind.HUD, f"{number}", "lane", "hud", {})], START)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    with stores[0].reading() as session:
        assert session.scalar(select(func.count()).select_from(OutboxItem)) == 80
    for store in stores:
        store.engine.dispose()


def test_a_writer_that_fails_lets_the_next_one_in(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'relay.db'}")
    upgrade_database(engine)
    store = Store(engine)
    for _ in range(2):
        with pytest.raises(OperationalError, match="nowhere"), store.writing() as session:
            session.execute(text("INSERT INTO nowhere VALUES (1)"))
    with store.writing() as session:
        enqueue_all(session, [NewItem(OutboxKind.HUD, "k", "lane", "hud", {})], START)
    engine.dispose()
