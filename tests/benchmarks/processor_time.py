"""Processor seconds of a command and of everything that descends from it, however it was started or left behind."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Spent:
    """Processor seconds (user and system) of a tree of processes, and how the command itself ended."""

    seconds: float
    status: int


def processor_seconds(command: Sequence[str], directory: Path, environment: Mapping[str, str], log: Path) -> Spent:
    """Run `command` to its end, its output into `log`, and reap everything that it left behind.

    A process's time is that of the children it waited for as well (`getrusage(2)`); what nobody waited for comes to
    this process, which makes itself the reaper of its descendants (`prctl(2)`). Call it from a process without other
    children.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)
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
