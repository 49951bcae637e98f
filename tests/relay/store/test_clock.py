"""Processes that share a record have one clock, whatever the clocks of their machines say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine, event, text

from relay.store.clock import ServerClock, record_clock, utc_now
from relay.store.engine import open_engine
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
    """From the first use of the database on; before that there is nothing to compare with."""
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


def test_a_file_has_the_clock_of_its_machine() -> None:
    engine = open_engine("sqlite:////tmp/never-opened.db")
    assert record_clock(engine) is utc_now
    assert not event.contains(engine, "checkout", utc_now)
