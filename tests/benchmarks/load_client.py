"""Sends requests to one port of this machine as fast as a few clients can, and notes how long each answer took.

Written on sockets: a client library takes more of the processor for a request than a quick handler does, and here both
share one machine.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

_CHUNK = 65_536
_TIMEOUT_S = 60.0


class UnexpectedAnswerError(Exception):
    """An answer that is not what the work is measured with. Its text is the status and the body's beginning."""


class Connection:
    """One connection that is kept open. Not for several threads."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), _TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def send(self, request: bytes) -> tuple[int, bytes]:
        """Status and body of the answer.

        Raises:
            UnexpectedAnswerError: the server hung up.
        """
        self._socket.sendall(request)
        got = b""
        while (end := got.find(b"\r\n\r\n")) < 0:
            got += self._more()
        head, body = got[:end], got[end + 4 :]
        length = _length(head)
        while len(body) < length:
            body += self._more()
        return int(head[9:12]), body

    def _more(self) -> bytes:
        chunk = self._socket.recv(_CHUNK)
        if not chunk:
            raise UnexpectedAnswerError("the server hung up")
        return chunk


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def post(path: str, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """A request with a JSON body, as it goes over the wire."""
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def ask(connection: Connection, request: bytes, statuses: Sequence[int] = (200,)) -> tuple[int, bytes]:
    """Send, and insist on one of these statuses."""
    status, body = connection.send(request)
    if status not in statuses:
        raise UnexpectedAnswerError(f"HTTP {status}: {body[:300]!r}")
    return status, body


@dataclass
class Flood:
    """What some clients got done: seconds of each answer, how long all of it took, and how many units of work (results
    for example) that was."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    units: int = 0

    @property
    def per_s(self) -> float:
        """Units in a second."""
        return self.units / self.seconds if self.seconds else 0.0

    def add(self, other: Flood) -> None:
        """Take in another turn of the same."""
        self.latencies += other.latencies
        self.seconds += other.seconds
        self.units += other.units


class Client:
    """One of several clients that work at the same time. `number` is the same for the same client in every turn."""

    def __init__(self, port: int, number: int, deadline: float) -> None:
        self.number = number
        self._deadline = deadline
        self._connection = Connection(port)
        self.latencies: list[float] = []
        self.units = 0

    @property
    def on_time(self) -> bool:
        """Whether there is time for more."""
        return time.perf_counter() < self._deadline

    def ask(self, request: bytes, *, statuses: Sequence[int] = (200,), units: int = 1) -> tuple[int, bytes]:
        """Send one request and note how long its answer took."""
        begun = time.perf_counter()
        answer = ask(self._connection, request, statuses)
        self.latencies.append(time.perf_counter() - begun)
        self.units += units
        return answer

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def flood(port: int, clients: int, seconds: float, work: Callable[[Client], None]) -> Flood:
    """Have `work` done by so many clients at once for about so many seconds: it goes on while its client is on time."""
    begun = time.perf_counter()
    together = threading.Barrier(clients)

    def run(number: int) -> Client:
        client = Client(port, number, begun + seconds)
        try:
            together.wait(_TIMEOUT_S)
            work(client)
        finally:
            client.close()
        return client

    with ThreadPoolExecutor(clients) as pool:
        done = list(pool.map(run, range(clients)))
    took = time.perf_counter() - begun
    return Flood([one for client in done for one in client.latencies], took, sum(client.units for client in done))


def sending(requests: Sequence[bytes]) -> Callable[[Client], None]:
    """Work that sends these requests, each once, in this order."""
    waiting, lock = iter(requests), threading.Lock()

    def work(client: Client) -> None:
        while client.on_time:
            with lock:
                request = next(waiting, None)
            if request is None:
                return
            client.ask(request)

    return work


def repeating(requests: Callable[[], bytes]) -> Callable[[Client], None]:
    """Work that sends one request after the other."""

    def work(client: Client) -> None:
        while client.on_time:
            client.ask(requests())

    return work
