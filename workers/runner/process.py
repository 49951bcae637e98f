"""One child process: started, listened to, ended with all that belongs to it. Judges nothing.

The child is the leader of a session of its own. Its end is its exit, never an end of file: a process it left behind
may hold the pipes open for ever.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from workers.runner.child.events import Event, decode
from workers.runner.child.order import Order
from workers.runner.environment import command
from workers.runner.strays import end_strays

_CHUNK = 1 << 18
#: A line longer than this is garbage: the texts in events are capped by the child.
_LINE_CAP = 1 << 20
#: What is still read after the exit; a stray process may go on writing.
_DRAIN_CAP = 4 << 20
_LAST_WORDS_S = 3.0
_POLL_S = 0.1
_REAP_S = 30.0


class Child:
    """A running child. Use `start_child`, which ends it in any case."""

    def __init__(self, process: subprocess.Popen[bytes], events: int, output: int, output_bytes: int) -> None:
        self._process = process
        self._events, self._output = events, output
        self._open = {events, output}
        self._line = bytearray()
        self._tail = bytearray()
        self._tail_cap = output_bytes

    def listen(self) -> list[Event]:
        """Events that are there, or that come within a tenth of a second. Empty when none came."""
        if not self._open:
            time.sleep(_POLL_S)
            return []
        ready, _, _ = select.select(list(self._open), [], [], _POLL_S)
        if self._output in ready:
            self._keep(self._take(self._output))
        return self._split(self._take(self._events)) if self._events in ready else []

    def drain(self) -> list[Event]:
        """What the pipes still hold after the child's exit."""
        events: list[Event] = []
        taken = 0
        while taken < _DRAIN_CAP and (ready := select.select(list(self._open), [], [], 0)[0] if self._open else []):
            for pipe in ready:
                data = self._take(pipe)
                taken += len(data)
                if pipe == self._events:
                    events += self._split(data)
                else:
                    self._keep(data)
        return events

    def exited(self) -> bool:
        """Whether the process has ended. It is not reaped yet, so that its number still names its group."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def last_words(self) -> list[Event]:
        """Abort the child so that it prints its stacks, and wait a moment for it to do so."""
        os.kill(self._process.pid, signal.SIGABRT)
        events: list[Event] = []
        deadline = time.monotonic() + _LAST_WORDS_S
        while not self.exited() and time.monotonic() < deadline:
            events += self.listen()
        return events + self.drain()

    def end(self) -> int:
        """Kill the child and its group, and reap it. The wait status in the sense of `subprocess`; may be repeated.

        Raises `subprocess.TimeoutExpired` when even a killed child does not go (it hangs in the kernel).
        """
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait(_REAP_S)

    def output_after(self, mark: str) -> str:
        """The kept end of the output, from the last occurrence of `mark` on where there is one."""
        return self._tail.decode(errors="replace").rpartition(mark)[2]

    def _take(self, pipe: int) -> bytes:
        data = os.read(pipe, _CHUNK)
        if not data:
            self._open.discard(pipe)
        return data

    def _keep(self, data: bytes) -> None:
        self._tail += data
        del self._tail[: -self._tail_cap]

    def _split(self, data: bytes) -> list[Event]:
        *lines, rest = (self._line + data).split(b"\n")
        self._line = bytearray() if len(rest) > _LINE_CAP else rest
        return [event for line in lines if line and (event := decode(bytes(line))) is not None]


@contextmanager
def start_child(
    order: Order, environment: dict[str, str], *, directory: Path, cookie: str, output_bytes: int
) -> Iterator[Child]:
    """A child at work on `order`; at the end of the block it is ended with its group and everything with its cookie.

    The kernel ends the child when the *thread* that started it ends (`prctl(2)`), so the block belongs to one thread.
    `order.events` is filled in here. Raises OSError when no process can be started.
    """
    events, events_in = os.pipe()
    output, output_in = os.pipe()
    try:
        try:
            process = _spawn(replace(order, events=events_in), environment, directory, output_in)
        finally:
            os.close(events_in)
            os.close(output_in)
        child = Child(process, events, output, output_bytes)
        try:
            yield child
        finally:
            child.end()
            end_strays(cookie)
    finally:
        os.close(events)
        os.close(output)


def _spawn(order: Order, environment: dict[str, str], directory: Path, output: int) -> subprocess.Popen[bytes]:
    # A file, not a pipe: an order is larger than a pipe, and its reader may die before it has read it.
    with tempfile.TemporaryFile() as source:
        source.write(order.dump())
        source.seek(0)
        return subprocess.Popen(
            command(),
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=directory,
            pass_fds=(order.events,),
            start_new_session=True,
        )
