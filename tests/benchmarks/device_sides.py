"""Runs one upstream test file on one device through our own runner, and keeps account of what was planned."""

from __future__ import annotations

import time
from dataclasses import dataclass

from relay.contract import Observation
from selector.types import CollectedTest
from tests.benchmarks.device_pairs import Key, Pair, Seen, key
from tests.benchmarks.devices import Devices
from workers.runner.types import RunnerTree, TestOutcome, WantedTest

_DETAIL_CHARS = 3_000


@dataclass(frozen=True, slots=True)
class Side:
    """One file on one device. `seconds` (wall clock) covers collecting and running. `lost` tests were planned and got
    no outcome although there was time; `cut` ones were not run for lack of it. `stray` outcomes were not planned."""

    tests: dict[Key, tuple[CollectedTest, Seen]]
    error: str
    seconds: float
    lost: int
    cut: int
    stray: int

    def count(self, observation: Observation) -> int:
        return sum(seen.observation is observation for _, seen in self.tests.values())

    def triple(self) -> str:
        """Passed, failed (crashes, time-outs and missing ones included) and skipped."""
        passed, skipped = self.count(Observation.PASSED), self.count(Observation.SKIPPED)
        failed = sum(seen.observation is not None for _, seen in self.tests.values()) - passed - skipped
        return f"{passed}/{failed}/{skipped}"


@dataclass(frozen=True, slots=True)
class FileResult:
    """One file on both devices."""

    file: str
    cpu: Side
    device: Side
    pairs: list[Pair]


def measure(devices: Devices, tree: RunnerTree, file: str, name: str, seconds: float) -> Side:
    """Collect and run one file on the device called `name`, for at most about `seconds`."""
    began = time.monotonic()

    def out_of_time() -> bool:
        return time.monotonic() - began > seconds

    with devices.open(name) as runner:
        collection = runner.collect(tree, file, out_of_time)
        outcomes: dict[str, TestOutcome] = {}
        stray: list[str] = []
        planned = {test.id: test for test in collection.tests}

        def note(outcome: TestOutcome) -> None:
            if outcome.id in outcomes or outcome.id not in planned:
                stray.append(outcome.id)
            outcomes[outcome.id] = outcome

        runner.run(tree, file, [WantedTest(each) for each in planned], note, out_of_time)
    took = time.monotonic() - began
    missing = len(planned.keys() - outcomes.keys())
    in_time = took <= seconds
    tests = {key(test, name): (test, _seen(test, outcomes.get(test.id))) for test in collection.tests}
    return Side(tests, collection.error, took, missing * in_time, missing * (not in_time), len(stray))


def _seen(test: CollectedTest, outcome: TestOutcome | None) -> Seen:
    if outcome is None:
        return Seen(test.id, None)
    return Seen(test.id, outcome.observation, outcome.duration_s, outcome.detail[:_DETAIL_CHARS], outcome.operators)
