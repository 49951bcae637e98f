"""Child processes of the relay: started with little, watched, restarted, and gone when the relay is gone.

Owns process groups, log files, backoff and stopping. Knows nothing of workers or of the service: what runs, and what
must be in place before it runs, are arguments. All children are started from the supervisor's own thread, because the
kernel ties "die with the parent" to the thread that made the child.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from relay.machine import launch
from relay.printable import printable

logger = logging.getLogger(__name__)

#: What a child gets of our environment: where programs, homes and certificates are, never a secret.
PASSED_ON = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CACHE_HOME", "CXX", "LD_LIBRARY_PATH"}
)


def minimal_environment(parent: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment: the harmless part of `parent`, and what the child is told on purpose."""
    return {name: value for name, value in parent.items() if name in PASSED_ON} | dict(own)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A program to keep running. `environment` is complete: nothing is added to it. Without a log file it writes where
    we do. `stdin` and `passed` are descriptors: what it reads, and others that it is given under the same number."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log_file: Path | None
    stdin: int = subprocess.DEVNULL
    passed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between the end of a child and its next start: doubling, and forgotten after a healthy while."""

    first_s: float = 0.5
    limit_s: float = 30.0
    healthy_s: float = 60.0

    def after(self, failures: int) -> float:
        """The wait after the `failures`-th end in a row, counted from 1."""
        return min(self.limit_s, self.first_s * 2.0 ** min(failures - 1, 30))


def last_line(log_file: Path, cap: int = 300) -> str:
    """The end of what a child said, printable: it may quote anything. Empty when it said nothing."""
    try:
        with log_file.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - 4 * cap))
            lines = log.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = next((line for line in reversed(lines) if line.strip()), "")
    return printable(said.strip()[-cap:])


@contextmanager
def _log_of(spec: ChildSpec) -> Iterator[int]:
    """Where a child writes. Our own stdout is for data, so what it shares with us is stderr."""
    if spec.log_file is None:
        yield sys.stderr.fileno()
        return
    spec.log_file.parent.mkdir(parents=True, exist_ok=True)
    with spec.log_file.open("ab") as log:
        yield log.fileno()


def _last_words(spec: ChildSpec) -> str:
    return "" if spec.log_file is None else f"; its log {spec.log_file} ends: {last_line(spec.log_file)}"


class Child:
    """One running process, leader of its own session and group."""

    def __init__(self, spec: ChildSpec) -> None:
        launcher = [sys.executable, "-I", "-S", launch.__file__, "--parent", str(os.getpid())]
        with _log_of(spec) as log:
            self._process = subprocess.Popen(
                [*launcher, *spec.command],
                env=dict(spec.environment),
                stdin=spec.stdin,
                stdout=log,
                stderr=log,
                pass_fds=spec.passed,
                start_new_session=True,
            )
        self.started = time.monotonic()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> bool:
        """Whether the leader has ended. It stays a zombie until `reap`, so that its group id cannot be reused."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def signal_group(self, number: signal.Signals) -> None:
        """Reaches every process of the group; nothing happens when it has been reaped."""
        if self._process.returncode is None:
            os.killpg(self.pid, number)

    def reap(self) -> int:
        """Kill what is left of the group, collect the leader. Returns its exit code, negative for a signal."""
        self.signal_group(signal.SIGKILL)
        return self._process.wait()


@dataclass(slots=True)
class _Slot:
    """A spec with its present child, and when it may start next (monotonic seconds)."""

    spec: ChildSpec
    child: Child | None = None
    failures: int = 0
    due: float = field(default=0.0)


class Supervisor:
    """Keeps the children of `specs` running until `stop`.

    `upkeep` puts in place what children need (it is called before each start and on every look, so that a thing that
    vanished comes back); an `OSError` of it is logged and tried again. `grace_s` bounds the wait after SIGTERM.
    """

    def __init__(
        self,
        specs: Sequence[ChildSpec],
        *,
        upkeep: Callable[[], None],
        backoff: Backoff | None = None,
        grace_s: float = 10.0,
        look_s: float = 0.2,
    ) -> None:
        self._slots = [_Slot(spec) for spec in specs]
        self._upkeep = upkeep
        self._backoff = backoff or Backoff()
        self._grace_s = grace_s
        self._look_s = look_s
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._first_look = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def __enter__(self) -> Supervisor:
        self._thread.start()
        self._first_look.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def pids(self) -> tuple[int, ...]:
        """Process ids of the children that are running now."""
        with self._lock:
            return tuple(slot.child.pid for slot in self._slots if slot.child and not slot.child.ended())

    def stop(self) -> None:
        """SIGTERM to every group, a bounded wait, SIGKILL for the rest. May be called twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._look()
                self._first_look.set()
                self._stopping.wait(self._look_s)
        finally:
            self._first_look.set()
            self._stop_children()

    def _look(self) -> None:
        try:
            self._upkeep()
        except OSError as error:
            logger.warning("cannot prepare for the child processes: %s", error)
            return
        with self._lock:
            for slot in self._slots:
                self._collect(slot)
                if slot.child is None and time.monotonic() >= slot.due:
                    self._start(slot)

    def _start(self, slot: _Slot) -> None:
        try:
            slot.child = Child(slot.spec)
        except OSError as error:
            logger.warning("cannot start %s: %s", slot.spec.name, error)
            self._postpone(slot)

    def _collect(self, slot: _Slot) -> None:
        """Notice an ended child, and set when its successor is due."""
        if slot.child is None or not slot.child.ended():
            return
        if time.monotonic() - slot.child.started >= self._backoff.healthy_s:
            slot.failures = 0
        code = slot.child.reap()
        slot.child = None
        wait_s = self._postpone(slot)
        logger.warning("%s ended (%s), next try in %.1f s%s", slot.spec.name, code, wait_s, _last_words(slot.spec))

    def _postpone(self, slot: _Slot) -> float:
        slot.failures += 1
        wait_s = self._backoff.after(slot.failures)
        slot.due = time.monotonic() + wait_s
        return wait_s

    def _stop_children(self) -> None:
        with self._lock:
            children = [slot.child for slot in self._slots if slot.child]
            for child in children:
                child.signal_group(signal.SIGTERM)
            deadline = time.monotonic() + self._grace_s
            while time.monotonic() < deadline and not all(child.ended() for child in children):
                time.sleep(0.02)
            for child in children:
                child.reap()
            for slot in self._slots:
                slot.child = None
