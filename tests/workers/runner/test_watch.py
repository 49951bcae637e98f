"""The clocks of a child, whose signs of life are its own to send."""

from __future__ import annotations

import time

import pytest

from workers.runner.child.events import Began, Ended
from workers.runner.types import RunnerLimits
from workers.runner.watch import Clock, End


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """One that is wound on by `at`: a file has 100 s, a test 10 s, and `long` 500 s by its own wish."""
    at(monkeypatch, 0)
    return Clock(RunnerLimits(test_timeout_s=10, file_timeout_s=100, collect_timeout_s=20), {"long": 500})


def at(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: seconds)


def test_a_test_with_a_limit_of_its_own_prolongs_its_file_once(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child with the runner's key may say for ever that it begins."""
    for seconds in range(0, 600, 50):
        at(monkeypatch, seconds)
        clock.note(Began("long"))
        assert clock.overdue(silent=False) is (End.FILE_TIMEOUT if seconds >= 500 else None)


def test_a_flood_of_ends_keeps_no_file_alive(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in range(0, 150, 5):
        at(monkeypatch, seconds)
        clock.note(Ended("other", "passed", 0.0, "", []))
        assert clock.overdue(silent=True) is (End.FILE_TIMEOUT if seconds >= 100 else None)


def test_silence_ends_a_test_and_noise_does_not_save_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert clock.overdue(silent=True) is None
    at(monkeypatch, 20)
    assert clock.overdue(silent=True) is End.COLLECT_TIMEOUT
    clock.note(Began("short"))
    at(monkeypatch, 30)
    assert clock.overdue(silent=True) is End.TEST_TIMEOUT
