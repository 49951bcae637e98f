"""Leaves processes behind in every way there is: what is left carries a name that the machine is searched for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable

from tests.hostile.attacks.tries import LIBC, Tries, call

NAME = "hostile_left"
#: Tells no file and no folder, which need not be seen from where it runs.
SLEEPER = f"import time; '{NAME}'; time.sleep(600)"
CLONE_PARENT = 0x8000


class TestOutliving(unittest.TestCase):
    def test_leave(self) -> None:
        tries = Tries()
        for way in (_twice, _deaf, _new_program, _stopped, _subreaper, _by_shell, _holding_pipes):
            before = time.monotonic()
            tries.note(way.__name__, _left_by(way))
            assert time.monotonic() - before < 20
        tries.must_find_nothing("a brother", _brother)
        tries.report()

    def test_alarm(self) -> None:
        """Goes off when the file is long done."""
        if os.fork() == 0:
            os.setsid()
            LIBC.prctl(15, NAME.encode(), 0, 0, 0)
            signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
            signal.signal(signal.SIGALRM, lambda *_: None)
            while True:
                signal.pause()

    def test_hold(self) -> None:
        """The last test of the file ends while a process of it, and nobody else, keeps every pipe open."""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                LIBC.prctl(15, NAME.encode(), 0, 0, 0)
                _sleep()
            os._exit(0)


def _left_by(way: Callable[[], None]) -> str:
    if (child := os.fork()) == 0:
        try:
            LIBC.prctl(15, NAME.encode(), 0, 0, 0)
            way()
        finally:
            os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    return "left"


def _sleep() -> None:
    while True:
        time.sleep(600)


def _twice() -> None:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        _sleep()


def _deaf() -> None:
    if os.fork() == 0:
        os.setsid()
        for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_IGN)
        LIBC.prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG
        _sleep()


def _new_program() -> None:
    """Nothing of the old one is left: no environment, no session, no name, no descriptor."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            os.closerange(0, 1024)
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", SLEEPER], {})  # noqa: S606 - as hostile as can be


def _stopped() -> None:
    if (child := os.fork()) == 0:
        os.setsid()
        os.kill(os.getpid(), signal.SIGSTOP)
        _sleep()
    os.waitpid(child, os.WUNTRACED)


def _subreaper() -> None:
    """A process that takes in the orphans of its own, so that they never come to the one that looks for them."""
    if os.fork() == 0:
        os.setsid()
        LIBC.prctl(36, 1, 0, 0, 0)
        for _ in range(5):
            if os.fork() == 0:
                if os.fork() == 0:
                    os.setsid()
                    _sleep()
                os._exit(0)
        _sleep()


def _by_shell() -> None:
    words = ["sh", "-c", f'nohup setsid {sys.executable} -I -S -c "{SLEEPER}" >/dev/null 2>&1 &']
    subprocess.run(words, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _holding_pipes() -> None:
    if os.fork() == 0:
        os.setsid()
        _sleep()


def _brother() -> bool:
    """A child of the parent, which is no descendant of the one that made it."""
    child = call("clone", CLONE_PARENT | 17, 0, 0, 0, 0)
    if child == 0:
        LIBC.prctl(15, NAME.encode(), 0, 0, 0)
        os.setsid()
        _sleep()
    return False
