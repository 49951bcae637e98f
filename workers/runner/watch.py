"""Follows one child until it is done, dies, takes too long or is no longer wanted. Owns the clocks, judges no test."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from workers.runner.child.events import Began, Ended, Event, Finished
from workers.runner.child_process import Child
from workers.runner.types import RunnerLimits


class End(Enum):
    """Why a child is not followed any more. `VANISHED`: the process that watches over it is gone or does not answer."""

    FINISHED = auto()
    EXITED = auto()
    VANISHED = auto()
    COLLECT_TIMEOUT = auto()
    TEST_TIMEOUT = auto()
    FILE_TIMEOUT = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True)
class Ending:
    """`status` is the wait status of a child that ended by itself; None when the runner ended it."""

    end: End
    status: int | None = None


class Clock:
    """Deadlines by what the child said last. Seconds of a monotonic clock.

    `own` are the limits of single tests, by id; a test with one of its own may take longer than a file.
    """

    def __init__(self, limits: RunnerLimits, own: Mapping[str, float]) -> None:
        now = time.monotonic()
        self._limits, self._own = limits, own
        self._prolonged: set[str] = set()
        self._file = now + limits.file_timeout_s
        self._step, self._step_end = now + limits.collect_timeout_s, End.COLLECT_TIMEOUT

    def note(self, event: Event) -> None:
        """Take an event as a sign of life."""
        match event:
            case Began(id=test):
                self._expect(self._own.get(test, self._limits.test_timeout_s))
                # Once for each: test code can say as often as it likes that a test begins.
                if test in self._own and test not in self._prolonged:
                    self._prolonged.add(test)
                    self._file = max(self._file, self._step)
            case Ended():
                # The time between two tests counts as well: class fixtures and garbage collection run there.
                self._expect(self._limits.test_timeout_s)
            case _:
                pass

    def overdue(self, *, silent: bool) -> End | None:
        """The step's deadline counts only while the pipe is empty: a receiver that takes its time is not the test's
        fault, and its answer may be waiting in the pipe."""
        now = time.monotonic()
        if silent and now >= self._step:
            return self._step_end
        return End.FILE_TIMEOUT if now >= self._file else None

    def _expect(self, seconds: float) -> None:
        self._step, self._step_end = time.monotonic() + seconds, End.TEST_TIMEOUT


def follow(child: Child, clock: Clock, receive: Callable[[Event], None], should_stop: Callable[[], bool]) -> Ending:
    """Hand every event to `receive` until the child is at its end. The caller ends the process.

    `should_stop` is asked after every test, and about ten times a second.
    """
    while True:
        events = child.listen()
        if (end := _hand_on(events, clock, receive, should_stop)) is not None:
            return Ending(end)
        if child.exited() or child.vanished():
            end = _hand_on(child.drain(), clock, receive, should_stop)
            return Ending(end) if end is not None else _exit(child)
        if should_stop():
            return Ending(End.STOPPED)
        if (end := clock.overdue(silent=not events)) is not None:
            for event in child.last_words():
                # A test whose time is over may still come to its end while its process is made to show its stack.
                if end is not End.TEST_TIMEOUT:
                    receive(event)
            return Ending(end)


def _exit(child: Child) -> Ending:
    return Ending(End.VANISHED) if child.status is None else Ending(End.EXITED, child.status)


def _hand_on(
    events: list[Event], clock: Clock, receive: Callable[[Event], None], should_stop: Callable[[], bool]
) -> End | None:
    for event in events:
        clock.note(event)
        receive(event)
        if isinstance(event, Finished):
            return End.FINISHED
        if isinstance(event, Ended) and should_stop():
            return End.STOPPED
    return None
