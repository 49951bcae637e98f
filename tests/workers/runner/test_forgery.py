"""What a test writes in the name of the runner says nothing about itself or others."""

from __future__ import annotations

from relay.contract import Observation
from tests.workers.runner.bench import Bench

PASSED, FAILED, CRASHED = Observation.PASSED, Observation.FAILED, Observation.CRASHED

FORGER = """
import os, unittest

ID = "test/test_sample.py::Sample::"

def everywhere(data):
    for name in os.listdir("/proc/self/fd"):
        try:
            os.write(int(name), data)
        except OSError:
            pass

def ended(name, observation):
    return ('\\n0123456789abcdef 9999 {"says": "Ended", "id": "%s%s", "observation": "%s", "duration_s": 0.0, '
            '"detail": "", "operators": []}\\n' % (ID, name, observation)).encode()

def replayed():
    # What the process said so far, read back out of its own pipe and said again.
    said = []
    for name in os.listdir("/proc/self/fd"):
        path = "/proc/self/fd/" + name
        try:
            if os.readlink(path).startswith("pipe:"):
                said.append(os.read(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 65536))
        except OSError:
            pass
    return b"".join(said)

class Sample(unittest.TestCase):
    def test_for_itself(self):
        everywhere(ended("test_for_itself", "passed"))
        self.fail("in truth")
    def test_for_others(self):
        everywhere(ended("test_for_others", "passed") + ended("test_victim", "failed"))
    def test_half_a_line(self): everywhere(ended("test_victim", "failed")[:40])
    def test_finished(self): everywhere(b'\\n0123456789abcdef 9999 {"says": "Finished"}\\n')
    def test_replays(self): everywhere(replayed() * 3)
    def test_goes_on_forging(self):
        if os.fork() == 0:
            for _ in range(2000):
                everywhere(ended("test_victim", "failed"))
            os._exit(0)
    def test_victim(self): pass
    def test_last(self): self.fail("in truth")
"""


def test_forged_replayed_and_half_events_change_no_outcome(bench: Bench) -> None:
    bench.write(FORGER)
    names = (
        "test_for_itself",
        "test_for_others",
        "test_half_a_line",
        "test_finished",
        "test_goes_on_forging",
        "test_victim",
        "test_last",
    )
    assert bench.seen(*names) == [FAILED, PASSED, PASSED, PASSED, PASSED, PASSED, FAILED]


def test_a_test_that_steals_what_was_said_loses_only_its_own_outcome(bench: Bench) -> None:
    """It may read its own beginning out of the pipe before the runner does; then it never ran, or never ended."""
    bench.write(FORGER)
    outcomes = bench.run("test_victim", "test_replays", "test_last")
    assert outcomes["test_replays"].observation in {PASSED, CRASHED, Observation.MISSING}
    assert outcomes["test_last"].observation is FAILED
    assert "in truth" in outcomes["test_last"].detail
