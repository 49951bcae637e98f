"""Processor seconds of a command and of everything that descends from it, however it was started or left behind.

A control group counts them all (`cgroups(7)`; version 1 needs root, version 2 a delegated group). Without one the time
of processes that somebody waited for is what there is, which leaves out what a PID namespace ends with itself:
`counts_all` says whether sandboxed programs can be measured.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_JOIN = ("/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"')


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds (user and system) of a tree of processes, and how the command itself ended."""

    seconds: float
    status: int


@dataclass(frozen=True, slots=True)
class _Group:
    """A control group of our own. `read` gives the seconds it has used so far."""

    folder: Path
    read: Callable[[], float]


def processor_seconds(command: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path) -> Spent:
    """Run `command` to its end, its output into `log`, and wait for everything that it left behind.

    What nobody waits for comes to this process, which makes itself the reaper of its descendants (`prctl(2)`). Call it
    from a process without other children.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with _own_group() as group:
        joined = [*_JOIN, str(group.folder / "cgroup.procs"), *command] if group else command
        waited = _run(joined, directory, environment, log)
        return Spent(group.read(), waited.status) if group else waited


def counts_all() -> bool:
    """Whether processes are counted that end with their PID namespace."""
    with _own_group() as group:
        return group is not None


def _run(command: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path) -> Spent:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    seconds, status = 0.0, 0
    while True:
        try:
            pid, ended, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return Spent(seconds, status)
        seconds += usage.ru_utime + usage.ru_stime
        if pid == process.pid:
            status = process.returncode = os.waitstatus_to_exitcode(ended)


@contextmanager
def _own_group() -> Iterator[_Group | None]:
    """A control group that counts processor time, removed at the end; None where none can be made."""
    group = next(filter(None, (_group_in(parent, file) for parent, file in _parents())), None)
    try:
        yield group
    finally:
        if group is not None:
            group.folder.rmdir()


def _parents() -> Iterator[tuple[Path, str]]:
    """Where a group may be made, and the file in it that counts: version 1 in nanoseconds, version 2 in words."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if "cpuacct" in controllers.split(","):
            yield Path("/sys/fs/cgroup/cpuacct" + path), "cpuacct.usage"
        if number == "0":
            yield Path("/sys/fs/cgroup" + path), "cpu.stat"


def _group_in(parent: Path, file: str) -> _Group | None:
    try:
        folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    except OSError:
        return None
    if (folder / file).is_file() and os.access(folder / "cgroup.procs", os.W_OK):
        return _Group(folder, lambda: _seconds(folder / file))
    folder.rmdir()
    return None


def _seconds(file: Path) -> float:
    words = file.read_text().split()
    return int(words[0]) / 1e9 if len(words) == 1 else int(words[words.index("usage_usec") + 1]) / 1e6
