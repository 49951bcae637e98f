"""Which user the sandboxed program is: never root, and where the worker may choose, one that nobody else is.

A user of its own keeps the kernel's bound on processes to one launch, and two launches from each other.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_LAUNCHES = count()
#: User numbers that no distribution and no systemd hands out: 64 per possible process number (at most 2^22) would
#: reach past the end of the range, 63 do not.
_FIRST = 0x7000_0000
_PER_PROCESS = 63
_NOBODY = 65534
#: From this kernel on the bound on processes is counted inside the user namespace (Linux 5.14, ucounts).
_COUNTED_INSIDE = (5, 14)


@dataclass(frozen=True, slots=True)
class Identity:
    """`namespaced`: the user is the worker's own, in a user namespace; else root has to step down to it."""

    user: int
    group: int
    namespaced: bool

    def step_down(self) -> list[str]:
        """The command in front of the program that leaves root behind with every capability; empty when not root."""
        if self.namespaced:
            return []
        return [
            shutil.which("setpriv") or "setpriv",
            f"--reuid={self.user}",
            f"--regid={self.group}",
            "--clear-groups",
            "--bounding-set=-all",
            "--inh-caps=-all",
            "--ambient-caps=-all",
            "--no-new-privs",
            "--",
        ]

    def processes_elsewhere(self) -> int:
        """How many processes and threads the kernel will count that are not this launch's."""
        if self.namespaced and _kernel() >= _COUNTED_INSIDE:
            return 0
        return sum(_tasks_of(self.user))


def new_identity() -> Identity:
    """For one launch. A worker that is root takes a fresh number, or `nobody` where its container maps no other."""
    if os.geteuid() != 0:
        return Identity(os.geteuid(), os.getegid(), namespaced=True)
    number = _FIRST + os.getpid() * _PER_PROCESS + next(_LAUNCHES) % _PER_PROCESS
    return Identity(_mapped(number, "uid_map"), _mapped(number, "gid_map"), namespaced=False)


def _mapped(number: int, table: str) -> int:
    for line in Path("/proc/self", table).read_text().splitlines():
        first, _, length = (int(word) for word in line.split())
        if first <= number < first + length:
            return number
    return _NOBODY


def _tasks_of(user: int) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        # A process may be gone by now.
        with suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == user:
                yield sum(1 for _ in (folder / "task").iterdir())


def _kernel() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)
