"""What the policies of a shard need of a test runner, so that a scripted one can stand in for a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from workers.runner.runner import Runner
from workers.runner.sandbox import choose_sandbox
from workers.runner.types import Collection, Installation, RunnerLimits, RunnerTree, TestOutcome, WantedTest
from workers.settings import WorkerSettings
from workers.spyre.build import ensure_library


class DeviceRunner(Protocol):
    """Collects and runs the tests of one upstream file in child processes."""

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection: ...

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None: ...


def runner_factory(settings: WorkerSettings) -> Callable[[Path], AbstractContextManager[DeviceRunner]]:
    """How a shard gets its runner, given a scratch folder. The device library is compiled when it is not cached.

    The runner's processes end with the context.
    """
    limits = RunnerLimits(
        test_timeout_s=settings.test_timeout_s,
        file_timeout_s=settings.file_timeout_s,
        collect_timeout_s=settings.collect_timeout_s,
    )

    def make(scratch: Path) -> AbstractContextManager[DeviceRunner]:
        installation = Installation(settings.device, ensure_library(settings.libraries))
        return Runner(installation, scratch, choose_sandbox(settings.sandbox), limits)

    return make
