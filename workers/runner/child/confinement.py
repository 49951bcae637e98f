"""What a child does to itself before it touches test code: dies with its parent, takes its limits, shows its stacks.

No defence against malice, which needs a sandbox around the process; it keeps honest accidents from the machine.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import functools
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

from workers.runner.child.order import Order

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
#: Out of reach of tests that close "all" descriptors up to a guessed number.
HIGH_DESCRIPTOR = 500
#: Each can hold a buffer of the kernel's, which no limit of memory counts.
DESCRIPTORS = 4096


def die_with_parent() -> None:
    """Have the kernel kill this process when the one that started it ends (`prctl(2)`)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def keep_orphans() -> None:
    """Have orphaned descendants become children of this process (`prctl(2)`): none gets away by forking twice."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def close_memory(*, closed: bool) -> None:
    """Have the kernel keep other processes of this user out of this one's memory and descriptors, or let them in
    (`prctl(2)`, PR_SET_DUMPABLE). A fork takes it over."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0 if closed else 1)


def flush_everything() -> None:
    """Python's and the C library's output, for a process that ends by `_exit`."""
    for stream in (sys.stdout, sys.stderr):
        # A test may have closed or replaced it.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    ctypes.CDLL(None).fflush(None)


def take_limits(order: Order) -> None:
    """No core files; bounded files, address space and processes. Processor time is bounded by the worker's clocks."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, order.file_bytes)
    _limit(resource.RLIMIT_AS, order.address_space_bytes)
    _limit(resource.RLIMIT_NOFILE, DESCRIPTORS)
    _limit(resource.RLIMIT_NPROC, order.processes + threads_of_user())
    # When memory runs out, the kernel takes the test and not the worker.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def reset_signals() -> None:
    """Undo what a worker process may have blocked or ignored; the settings are inherited."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def show_stacks() -> int:
    """Print Python stacks on a crash or SIGABRT, to a copy of standard error that tests do not close. The copy."""
    copy = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    faulthandler.enable(copy)
    return copy


@functools.cache
def threads_of_user() -> int:
    """What the kernel counts for RLIMIT_NPROC without any test: all of this user's threads that can be seen from
    here. Looked at once, and by the warm parent: its children take over what it knows."""
    count = 0
    for folder in Path("/proc").iterdir():
        # Any process may be gone by now.
        with suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == os.getuid():
                count += len(os.listdir(folder / "task"))
    return count


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (value, value))
