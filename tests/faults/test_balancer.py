"""A way that is open, cut, silent, or lost without a word."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from tests.faults.balancer import Balancer, Way
from tests.ports import free_port

_NOT_LONG_S = 0.3


@contextmanager
def echo() -> Iterator[int]:
    """The port of a server that says everything back."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(100):
                connection.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def balancer() -> Iterator[Balancer]:
    """Before a port where nobody listens, and one where somebody does."""
    with echo() as port:
        made = Balancer([free_port(), port], Random(1))  # noqa: S311  # which is tried first is no secret
        made.start()
        yield made
        made.stop()


def ask(connection: socket.socket, word: bytes = b"x") -> bytes:
    """The answer; TimeoutError when there is none for a while."""
    connection.settimeout(_NOT_LONG_S)
    connection.sendall(word)
    return connection.recv(100)


def is_broken(connection: socket.socket) -> bool:
    try:
        return ask(connection) == b""
    except ConnectionError:
        return True


@contextmanager
def connected(balancer: Balancer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", balancer.port), 5) as connection:
        yield connection


def test_a_port_where_nobody_listens_is_passed_over(balancer: Balancer) -> None:
    for _ in range(8):
        with connected(balancer) as connection:
            assert ask(connection) == b"x"


def test_a_way_that_is_cut_breaks_and_refuses(balancer: Balancer) -> None:
    with connected(balancer) as connection:
        assert ask(connection) == b"x"
        balancer.set_way(Way.CUT)
        assert is_broken(connection)
        with pytest.raises(ConnectionRefusedError), connected(balancer):
            pass
    balancer.set_way(Way.OPEN)
    with connected(balancer) as connection:
        assert ask(connection) == b"x"


def test_a_silent_way_keeps_what_is_said_and_gives_it_later(balancer: Balancer) -> None:
    with connected(balancer) as connection:
        assert ask(connection) == b"x"
        balancer.set_way(Way.SILENT)
        with pytest.raises(TimeoutError):
            ask(connection)
        balancer.set_way(Way.OPEN)
        connection.settimeout(5)
        assert connection.recv(100) == b"x"


def test_lost_connections_carry_nothing_any_more_and_new_ones_do(balancer: Balancer) -> None:
    with connected(balancer) as lost:
        assert ask(lost) == b"x"
        balancer.lose_connections()
        with connected(balancer) as fresh:
            assert ask(fresh) == b"x"
        with pytest.raises(TimeoutError):
            ask(lost)
