"""Servers of every kind that nobody may reach, and a count of who came."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Doors:
    """Servers that nobody may reach: `visits` has one entry for each who came."""

    tcp: socket.socket
    tcp6: socket.socket
    udp: socket.socket
    local: socket.socket
    abstract: socket.socket
    visits: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        return {
            "port": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "abstract": self.abstract.getsockname()[1:].decode(),
            "sockets": {"database": self.local.getsockname()},
        }

    def watch(self) -> None:
        for door in (self.tcp, self.tcp6, self.local, self.abstract):
            threading.Thread(target=self._greet, args=(door,), daemon=True).start()
        threading.Thread(target=self._hear, daemon=True).start()

    def _greet(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                door.accept()[0].close()
                self.visits.append(str(door.family))

    def _hear(self) -> None:
        with suppress(OSError):
            while self.udp.recvfrom(100):
                self.visits.append("datagram")


@contextmanager
def doors_of(path: Path) -> Iterator[Doors]:
    with ExitStack() as ending:
        tcp = ending.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = tcp.getsockname()[1]
        tcp6 = ending.enter_context(socket.create_server(("::1", port), family=socket.AF_INET6))
        udp, local, abstract = (
            ending.enter_context(socket.socket(family, kind))
            for family, kind in (
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
            )
        )
        udp.bind(("127.0.0.1", 0))
        local.bind(str(path))
        path.chmod(0o777)
        abstract.bind(f"\0hostile-{os.getpid()}-{port}")
        for server in (local, abstract):
            server.listen()
        doors = Doors(tcp, tcp6, udp, local, abstract)
        doors.watch()
        yield doors
