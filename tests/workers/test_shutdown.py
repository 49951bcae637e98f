"""The flag reaches processes that were forked before it was set."""

from __future__ import annotations

import os

from tests.waiting import until
from workers.shutdown import ShutdownFlag


def test_a_forked_process_sees_the_flag() -> None:
    flag = ShutdownFlag()
    assert not flag.is_set()
    child = os.fork()
    if child == 0:
        try:
            until(flag.is_set)
        finally:
            os._exit(0 if flag.is_set() else 1)
    flag.set()
    assert os.waitpid(child, 0)[1] == 0
