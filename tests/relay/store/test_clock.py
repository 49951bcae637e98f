"""Processes that share a record have one clock, whatever the clocks of their machines say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import Dialect, Engine, event, text
from structlog.testing import capture_logs

from relay.app import create_context
from relay.settings import RelaySettings
from relay.store.clock import ServerClock, record_clock, utc_now
from relay.store.duties import DutyLease
from relay.store.duty_models import Duty
from relay.store.engine import Store, open_engine
from tests.conftest import MakeDatabase

CLOSE = timedelta(seconds=30)


@pytest.fixture
def server(make_postgres_database: MakeDatabase) -> Iterator[Engine]:
    engine = open_engine(make_postgres_database("empty"))
    yield engine
    engine.dispose()


class Steady:
    """A clock that nobody sets, moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def an_hour_off(hours: int) -> Callable[[], datetime]:
    return lambda: utc_now() + timedelta(hours=hours)


def use(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))


def test_machines_with_other_clocks_agree(server: Engine) -> None:
    """From the first use of the database on."""
    clocks = [ServerClock(server, own=an_hour_off(hours)) for hours in (-1, 2)]
    assert clocks[1]() - clocks[0]() > timedelta(hours=2)
    use(server)
    moments = [utc_now(), *(clock() for clock in clocks)]
    assert max(moments) - min(moments) < CLOSE
    assert all(moment.tzinfo is UTC for moment in moments)


def test_a_jump_of_the_machine_is_not_seen(server: Engine) -> None:
    hours = [0]
    clock = ServerClock(server, own=lambda: utc_now() + timedelta(hours=hours[0]))
    use(server)
    hours[0] = 5
    assert abs(clock() - utc_now()) < CLOSE
    use(server)
    assert abs(clock() - utc_now()) < CLOSE


def test_it_goes_on_without_the_server(server: Engine) -> None:
    """By the steady clock alone, and nobody is asked."""
    steady = Steady()
    clock = ServerClock(server, steady=steady)
    use(server)
    server.dispose()
    first = clock()
    steady.at += 3600
    assert clock() - first == timedelta(hours=1)


def test_the_server_is_asked_now_and_then(server: Engine) -> None:
    """Not with every connection, and again when the last answer is old: what ran off comes back."""
    steady = Steady()
    clock = ServerClock(server, steady=steady)
    use(server)
    steady.at += 5
    use(server)
    assert clock() - utc_now() > timedelta(seconds=2)
    steady.at += 3600
    assert clock() - utc_now() > timedelta(minutes=50)
    use(server)
    assert abs(clock() - utc_now()) < CLOSE


def test_who_has_the_connection_has_it_as_before(server: Engine) -> None:
    """Asked on a connection that is handed out afterwards without a transaction; one that is broken is its taker's to
    find out about."""
    ServerClock(server)
    taken = server.raw_connection()
    assert taken.driver_connection is not None
    assert taken.driver_connection.info.transaction_status is TransactionStatus.IDLE
    taken.close()

    class BrokenError(Exception):
        pass

    class Broken:
        Error = BrokenError

        def cursor(self) -> None:
            raise BrokenError

    lost = ServerClock(server)
    lost._checked_out(Broken(), None, None)
    assert abs(lost() - utc_now()) < CLOSE


@pytest.mark.parametrize("upgrades", [True, False])
def test_a_process_that_has_started_has_asked(
    settings: RelaySettings, make_postgres_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch, upgrades: bool
) -> None:
    """Also where another upgrades the record and nothing else has used it yet: what comes first takes the moment before
    it has a connection."""
    given = {"upgrade_on_start": upgrades, "database_url": make_postgres_database("ready")}
    context = create_context(settings.model_copy(update=given))
    monkeypatch.setattr(context.now, "_own", an_hour_off(1))
    try:
        assert abs(context.now() - utc_now()) < CLOSE
    finally:
        context.close()


def test_a_server_that_is_away_is_asked_later(server: Engine) -> None:
    """Nobody fails of a clock: the machine's own has to do, and the first who reaches the server asks."""
    away = [True]

    @event.listens_for(server, "do_connect")
    def _refuse(dialect: Dialect, *_: object) -> None:
        if away[0]:
            raise dialect.loaded_dbapi.OperationalError("it is away")

    with capture_logs() as said:
        clock = record_clock(server, ask=True)
    assert [line["event"] for line in said] == ["clock_not_asked"]
    assert isinstance(clock, ServerClock)
    clock._own = an_hour_off(1)
    away[0] = False
    use(server)
    assert abs(clock() - utc_now()) < CLOSE


def test_a_duty_is_held_by_the_clock_of_the_record(make_postgres_database: MakeDatabase) -> None:
    """By a process that has not used the record before, and whose machine is an hour ahead: it takes nothing from who
    holds it, and what it takes it has for no longer."""
    url = make_postgres_database("ready")
    with ExitStack() as ending:

        def lease(name: str, *, hours: int) -> DutyLease:
            engine = open_engine(url)
            ending.callback(engine.dispose)
            clock = ServerClock(engine, own=an_hour_off(hours))
            return DutyLease(Store(engine), name, lasts_s=20, now=clock, holder=f"{hours}")

        assert lease("held", hours=0).hold()
        assert not lease("held", hours=1).hold()
        assert lease("free", hours=1).hold()
        engine = open_engine(url)
        ending.callback(engine.dispose)
        with Store(engine).reading() as session:
            assert session.get_one(Duty, "free").until - utc_now() < CLOSE


def test_a_file_has_the_clock_of_its_machine(tmp_path: Path) -> None:
    """And is not opened to be asked."""
    file = tmp_path / "never-opened.db"
    engine = open_engine(f"sqlite:///{file}")
    assert record_clock(engine, ask=True) is utc_now
    assert not event.contains(engine, "checkout", utc_now)
    assert not file.exists()
