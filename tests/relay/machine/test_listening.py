"""The socket of the service and its address."""

from __future__ import annotations

import socket

import pytest

from relay.machine.listening import NotStarted, listen, url_of


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("localhost", "localhost")]
)
def test_address_of_a_free_port_can_be_reached(host: str, shown: str) -> None:
    """A socket that listens everywhere is shown by an address that works here."""
    with listen(host, 0) as listener:
        port = listener.getsockname()[1]
        assert url_of(host, listener) == f"http://{shown}:{port}"
        socket.create_connection((shown, port), 5).close()


@pytest.mark.parametrize(("host", "shown"), [("::1", "[::1]"), ("::", "[::1]"), ("fd00::7", "[fd00::7]")])
def test_address_of_version_6_stands_in_brackets(host: str, shown: str) -> None:
    """A URL needs them; any socket will do to show that."""
    with listen("127.0.0.1", 0) as listener:
        assert url_of(host, listener) == f"http://{shown}:{listener.getsockname()[1]}"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_do_not_wait_to_be_acknowledged(host: str) -> None:
    """An accepted connection sends its second piece at once, on which a client would else wait for 40 ms."""
    with listen(host, 0) as listener, socket.create_connection(listener.getsockname()[:2], 5):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_address_of_another_machine_is_one_sentence() -> None:
    """Not a traceback."""
    with pytest.raises(NotStarted, match=r"cannot listen on 192\.0\.2\.1 port 0"):
        listen("192.0.2.1", 0)
