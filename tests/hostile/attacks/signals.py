"""Ends or stops others: the worker, its parents, everybody. Asks for little first, for all only where that failed."""

from __future__ import annotations

import os
import resource
import signal
import unittest
from collections.abc import Callable

from tests.hostile.attacks.tries import FACTS, Tries, any_of, call, strangers


class TestSignals(unittest.TestCase):
    def test_others(self) -> None:
        tries = Tries()
        others = [pid for pid in strangers() if pid > 2]
        tries.must_find_nothing("by number", any_of, lambda pid: _works(os.kill, pid, 0), others)
        tries.must_find_nothing(
            "by handle", any_of, lambda p: _works(signal.pidfd_send_signal, os.pidfd_open(p), 0), others
        )
        # The one that watches over a launch may be in a group with it.
        groups = {os.getpgid(pid) for pid in any_of(os.getpgid, others)} - {os.getpgid(os.getppid())}
        sessions = {os.getsid(pid) for pid in any_of(os.getsid, others)} - {os.getsid(os.getppid())}
        tries.must_find_nothing("by group", any_of, lambda group: _works(os.killpg, group, 0), groups)
        tries.must_find_nothing("by session", any_of, lambda group: _works(os.killpg, group, 0), sessions)
        tries.must_fail("the one that waits for it", os.kill, FACTS["victim"], signal.SIGTERM)
        tries.must_find_nothing("limits", any_of, _limited, others)
        tries.must_find_nothing("slow down", any_of, lambda p: _works(os.setpriority, os.PRIO_PROCESS, p, 19), others)
        tries.report()

    def test_everybody(self) -> None:
        """Only where the one who waits to be ended cannot be: whoever cannot reach him, reaches nobody outside."""
        try:
            os.kill(FACTS["victim"], 0)
        except OSError:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGCONT, signal.SIG_IGN)
            os.kill(-1, signal.SIGCONT)
            os.kill(-1, signal.SIGKILL)
            os.killpg(0, signal.SIGKILL)


def _works(function: Callable[..., object], *arguments: int) -> bool:
    function(*arguments)
    return True


def _limited(pid: int) -> bool:
    limits = resource.prlimit(pid, resource.RLIMIT_CORE)
    resource.prlimit(pid, resource.RLIMIT_CORE, limits)
    return call("prlimit64", pid, resource.RLIMIT_CORE, 0, 0) == 0
