"""The one bounded wait of the tests: on a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.002, 0.05


def until(
    condition: Callable[[], bool], what: str | Callable[[], str] = "the condition", seconds: float = 60.0
) -> None:
    """Ask again and again until the condition is true, ever less often: who asks takes time from who is waited for.

    Raises:
        AssertionError: it was not within `seconds`; the message says `what`.
    """
    deadline, pause = time.monotonic() + seconds, _FIRST_PAUSE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what if isinstance(what, str) else what()}")
        time.sleep(pause)
        pause = min(1.5 * pause, _LONGEST_PAUSE_S)
