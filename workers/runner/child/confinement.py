"""What a child does to itself before it touches test code: dies with its worker, takes its limits, shows its stacks.

No defence against malice, which needs a sandbox around the process; it keeps honest accidents from the machine.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

from workers.runner.child.order import Order

_PR_SET_PDEATHSIG = 1
#: Out of reach of tests that close "all" descriptors up to a guessed number.
HIGH_DESCRIPTOR = 500


def die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends (`prctl(2)`). Exits at once when it is gone already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def take_limits(order: Order) -> None:
    """No core files; bounded files and address space. Processor time is bounded by the parent's clocks."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, order.file_bytes)
    _limit(resource.RLIMIT_AS, order.address_space_bytes)
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


def _limit(kind: int, wanted: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (value, value))
