"""The engine: migrations on both databases, several starters at once, and SQLite's writers."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, select, text

from relay.errors import SettingsError
from relay.store.engine import Store, open_engine, upgrade_database
from relay.store.models import Run, RunEvent
from tests.relay.worker_story import NOW, arrive, get_run, new_run


def test_upgrading_a_filled_database_keeps_what_is_in_it(store: Store) -> None:
    """An upgrade of a database in use changes nothing when there is nothing to change."""
    run_id = arrive(store)
    upgrade_database(store.engine)
    assert get_run(store, run_id).title == "Change where()"


def test_the_way_back_leads_to_an_empty_database(store: Store) -> None:
    """Downgrading removes every table, and the way up is open again."""
    config = Config()
    config.set_main_option("script_location", "relay.store:migrations")
    with store.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    assert inspect(store.engine).get_table_names() == ["alembic_version"]
    upgrade_database(store.engine)
    assert arrive(store)


def test_first_connections_to_a_fresh_file_do_not_lock_each_other_out(tmp_path: Path) -> None:
    """The switch to WAL knows no waiting, so that one in some hundred connections failed."""
    for number in range(30):
        url, barrier = f"sqlite:///{tmp_path}/{number}.db", threading.Barrier(8)

        def connect(url: str = url, barrier: threading.Barrier = barrier) -> str:
            engine = open_engine(url)
            barrier.wait(timeout=30)
            with engine.connect() as connection:
                mode = connection.scalar(text("PRAGMA journal_mode"))
            engine.dispose()
            return str(mode)

        with ThreadPoolExecutor(8) as pool:
            assert [mode.result(timeout=60) for mode in [pool.submit(connect) for _ in range(8)]] == ["wal"] * 8


def test_several_replicas_may_start_at_once(empty_database_url: str) -> None:
    """All starters end with the schema in place, whoever made it."""
    barrier = threading.Barrier(4)

    def start() -> None:
        engine = open_engine(empty_database_url)
        barrier.wait(timeout=30)
        upgrade_database(engine)
        with engine.connect() as connection:
            assert connection.scalar(text("SELECT count(*) FROM runs")) == 0
        engine.dispose()

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(start) for _ in range(4)]:
            future.result(timeout=60)


def test_reading_first_and_writing_later_never_meets_a_locked_database(store: Store) -> None:
    """Many writers that read before they write all succeed."""
    run_id = arrive(store)

    def write(number: int) -> None:
        with store.writing() as session:
            seen = len(session.scalars(select(RunEvent)).all())
            session.add(RunEvent(run_id=run_id, at=NOW, kind="note", text=f"{number} saw {seen}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(80)))
    with store.reading() as session:
        assert len(session.scalars(select(RunEvent).where(RunEvent.kind == "note")).all()) == 80


def test_all_queries_of_a_reader_see_the_record_at_one_moment(store: Store) -> None:
    """Whatever is committed between them: else a page has a run that is not over and, after it, its last event."""
    run_id = arrive(store)
    with store.reading() as session:
        before = session.scalar(select(Run.title).where(Run.id == run_id))
        with store.writing() as other:
            other.get_one(Run, run_id).title = "Another title"
        assert session.scalar(select(Run.title).where(Run.id == run_id)) == before == "Change where()"
    with store.reading() as session:
        assert session.scalar(select(Run.title).where(Run.id == run_id)) == "Another title"


def test_a_writer_sees_what_others_committed(store: Store) -> None:
    """On PostgreSQL it may have waited for them, and must go on from what they left."""
    run_id = arrive(store)
    with store.writing() as session:
        session.execute(select(1))
        with ThreadPoolExecutor(1) as pool:
            if store.engine.dialect.name == "postgresql":  # SQLite has one writer at a time
                pool.submit(_retitle, store, run_id).result(timeout=30)
                assert session.get_one(Run, run_id, with_for_update=True).title == "Another title"
        session.get_one(Run, run_id).title = "The last"
    assert get_run(store, run_id).title == "The last"


def _retitle(store: Store, run_id: int) -> None:
    with store.writing() as session:
        session.get_one(Run, run_id).title = "Another title"


def test_a_failing_block_leaves_nothing_behind(store: Store) -> None:
    """An exception rolls the whole session back."""

    def fail() -> None:
        with store.writing() as session:
            session.add(RunEvent(run_id=arrived, at=NOW, kind="note", text="never"))
            session.flush()
            raise RuntimeError

    arrived = arrive(store)
    with pytest.raises(RuntimeError):
        fail()
    with store.reading() as session:
        assert session.scalars(select(RunEvent).where(RunEvent.kind == "note")).all() == []


def test_foreign_keys_are_enforced_on_sqlite_too(tmp_path: Path) -> None:
    """SQLite checks references only when told to."""
    engine = open_engine(f"sqlite:///{tmp_path / 'relay.db'}")
    with engine.connect() as connection:
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
    engine.dispose()


@pytest.mark.parametrize("url", ["mysql://host/db", "not a url", "sqlite://", "sqlite:///:memory:"])
def test_other_databases_are_refused_with_the_variable_to_set(url: str) -> None:
    """The error names the setting."""
    with pytest.raises(SettingsError, match="RELAY_DATABASE_URL"):
        open_engine(url)


def test_untrusted_text_is_capped_and_storable(store: Store) -> None:
    """A title with NUL, a lone surrogate and too many characters is stored, cut."""

    run_id = arrive(store, new_run(title="a\x00b\ud800" + "x" * 5_000))
    title = get_run(store, run_id).title
    assert title.startswith("a\ufffdb\ufffd")
    assert len(title) == 1_000


def test_moments_come_back_in_utc(store: Store) -> None:
    """What goes in as an aware moment comes out equal and aware."""
    run = get_run(store, arrive(store))
    assert run.created_at == NOW
    assert run.created_at.tzinfo is not None
    with store.reading() as session:
        assert session.scalars(select(Run).where(Run.created_at <= NOW)).all()
