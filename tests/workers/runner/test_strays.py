"""Processes that left everything behind but their environment."""

from __future__ import annotations

import subprocess
import sys

from tests.waiting import until
from tests.workers.runner.bench import alive
from workers.runner.environment import COOKIE
from workers.runner.strays import end_strays


def sleeper(cookie: str) -> subprocess.Popen[bytes]:
    """A process of its own session that carries `cookie`, known to run its own program."""
    program = "import time; print('up', flush=True); time.sleep(3600)"
    process = subprocess.Popen(
        [sys.executable, "-c", program], env={COOKIE: cookie}, start_new_session=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def test_a_stray_is_found_by_its_cookie_and_others_are_left_alone() -> None:
    with sleeper("this") as stray, sleeper("this-not") as other:
        end_strays("this")
        until(lambda: not alive(stray.pid))
        assert alive(other.pid)
        other.kill()
