"""Follows one child until it is done, dies, takes too long or is no longer wanted. Owns the clocks, judges no test."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from workers.runner.child.events import Began, Ended, Event, Finished
from workers.runner.process import Child
from workers.runner.types import RunnerLimits


class End(Enum):
    """Why a child is not followed any more."""

    FINISHED = auto()
    EXITED = auto()
    COLLECT_TIMEOUT = auto()
    TEST_TIMEOUT = auto()
    FILE_TIMEOUT = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True)
class Ending:
    """`status` is the wait status of a child that ended by itself; None when the runner ended it."""

    end: End
    status: int | None = None


class _Clock:
    """Deadlines by what the child said last. Seconds of a monotonic clock."""

    def __init__(self, limits: RunnerLimits) -> None:
        now = time.monotonic()
        self._limits = limits
        self._file = now + limits.file_timeout_s
        self._step, self._step_end = now + limits.collect_timeout_s, End.COLLECT_TIMEOUT

    def note(self, event: Event) -> None:
        # The time between two tests counts as well: class fixtures and garbage collection run there.
        if isinstance(event, Began | Ended):
            self._step, self._step_end = time.monotonic() + self._limits.test_timeout_s, End.TEST_TIMEOUT

    def overdue(self, *, silent: bool) -> End | None:
        """The step's deadline counts only while the pipe is empty: a receiver that takes its time is not the test's
        fault, and its answer may be waiting in the pipe."""
        now = time.monotonic()
        if silent and now >= self._step:
            return self._step_end
        return End.FILE_TIMEOUT if now >= self._file else None


def follow(
    child: Child, limits: RunnerLimits, receive: Callable[[Event], None], should_stop: Callable[[], bool]
) -> Ending:
    """Hand every event to `receive` until the child is at its end. The caller ends the process.

    `should_stop` is asked after every test, and about ten times a second.
    """
    clock = _Clock(limits)
    while True:
        events = child.listen()
        if (end := _hand_on(events, clock, receive, should_stop)) is not None:
            return Ending(end)
        if child.exited():
            end = _hand_on(child.drain(), clock, receive, should_stop)
            return Ending(end) if end is not None else Ending(End.EXITED, child.end())
        if should_stop():
            return Ending(End.STOPPED)
        if (end := clock.overdue(silent=not events)) is not None:
            for event in child.last_words():
                receive(event)
            return Ending(end)


def _hand_on(
    events: list[Event], clock: _Clock, receive: Callable[[Event], None], should_stop: Callable[[], bool]
) -> End | None:
    for event in events:
        clock.note(event)
        receive(event)
        if isinstance(event, Finished):
            return End.FINISHED
        if isinstance(event, Ended) and should_stop():
            return End.STOPPED
    return None
