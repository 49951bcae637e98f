"""What the policies of a shard need of a test runner: two methods, so that a scripted one can stand in for a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from workers.runner import Collection, Runner, RunnerLimits, RunnerTree, TestOutcome
from workers.settings import WorkerSettings
from workers.spyre.build import ensure_library


class DeviceRunner(Protocol):
    """Collects and runs the tests of one upstream file in child processes."""

    def collect(self, tree: RunnerTree, file: str) -> Collection: ...

    def run(
        self,
        tree: RunnerTree,
        file: str,
        ids: Sequence[str],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None: ...


def runner_factory(settings: WorkerSettings) -> Callable[[Path], DeviceRunner]:
    """How a shard gets its runner, given a scratch folder. The device library is compiled when it is not cached."""
    limits = RunnerLimits(
        test_timeout_s=settings.test_timeout_s,
        file_timeout_s=settings.file_timeout_s,
        collect_timeout_s=settings.collect_timeout_s,
    )

    def make(scratch: Path) -> DeviceRunner:
        return Runner(
            device=settings.device,
            device_library=ensure_library(settings.libraries),
            scratch=scratch,
            limits=limits,
        )

    return make
