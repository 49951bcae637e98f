"""The launcher becomes its command, or ends when its parent is not the one it was told of."""

from __future__ import annotations

import os
import subprocess
import sys

from relay.machine import launch

LAUNCHER = [sys.executable, "-I", "-S", launch.__file__]


def test_launcher_becomes_the_command() -> None:
    """Output and exit code are the command's own."""
    command = [*LAUNCHER, "--parent", str(os.getpid()), sys.executable, "-c", "print('here'); raise SystemExit(7)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("here\n", 7)


def test_launcher_whose_parent_is_gone_runs_nothing() -> None:
    """A child that is started while its parent dies must not be left over."""
    command = [*LAUNCHER, "--parent", "1", sys.executable, "-c", "print('here')"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 1)
