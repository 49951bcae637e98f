"""Clients that take connections and give nothing for them: one thread holds them all."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

_EACH = 12
_EVERY_S = 0.5
_SLOW_HEAD = b"GET /readyz HTTP/1.1\r\nHost: relay\r\nX-Slow: "
_ENDLESS_BODY = (
    b"POST /github/webhook HTTP/1.1\r\nHost: relay\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: slow\r\n"
    b"X-Hub-Signature-256: sha256=00\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
)
_SILENT_READER = b"GET /api/v1/runs/1/events HTTP/1.1\r\nHost: relay\r\nAccept: text/event-stream\r\n\r\n"


@contextmanager
def slow_clients(ports: Sequence[int]) -> Iterator[None]:
    """There for the time of the block: a dozen of each kind at every port."""
    stop = threading.Event()
    with ExitStack() as stack:
        talking: list[tuple[socket.socket, bytes]] = []
        for port in ports:
            for first, more in ((_SLOW_HEAD, b"a"), (_ENDLESS_BODY, b" "), (_SILENT_READER, b"")):
                for _ in range(_EACH):
                    with suppress(OSError):
                        client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
                        # A small window fills at once, so that who writes to a silent reader has to wait.
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                        client.sendall(first)
                        talking.append((client, more))
        thread = threading.Thread(target=_drip, args=(talking, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _drip(talking: Sequence[tuple[socket.socket, bytes]], stop: threading.Event) -> None:
    while not stop.wait(_EVERY_S):
        for client, more in talking:
            with suppress(OSError):
                client.send(more)
