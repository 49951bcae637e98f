"""The one bounded wait of the tests: on a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], what: str = "the condition", seconds: float = 20.0) -> None:
    """Ask again and again until the condition is true.

    Raises:
        AssertionError: it was not within `seconds`; the message says `what`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"never came true: {what}"
        time.sleep(0.01)
