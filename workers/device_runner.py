"""What the policies of a shard need of a test runner, so that a scripted one can stand in for a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from relay.contract import EMULATOR
from workers.environments.environment import Environment
from workers.models.running import TaskRunner
from workers.runner.runner import Runner
from workers.runner.sandbox import Sandbox
from workers.runner.types import Collection, Installation, RunnerLimits, RunnerTree, TestOutcome, WantedTest
from workers.settings import WorkerSettings
from workers.spyre.build import ensure_library


class DeviceRunner(TaskRunner, Protocol):
    """Collects and runs the tests of one upstream file in child processes, and tasks of ours (`workers.models`)."""

    def probe(self, tree: RunnerTree) -> str: ...

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection: ...

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None: ...


def runner_factory(
    settings: WorkerSettings, sandbox: Sandbox
) -> Callable[[Path, Installation], AbstractContextManager[DeviceRunner]]:
    """How a shard gets its runner, given a scratch folder and where it runs. Its processes end with the context."""
    limits = RunnerLimits(
        test_timeout_s=settings.test_timeout_s,
        file_timeout_s=settings.file_timeout_s,
        collect_timeout_s=settings.collect_timeout_s,
    )

    def make(scratch: Path, installation: Installation) -> AbstractContextManager[DeviceRunner]:
        return Runner(installation, scratch, sandbox, limits)

    return make


def device_installer(settings: WorkerSettings) -> Callable[[Environment], Installation]:
    """How an environment gets its device: the library is compiled for its torch when it is not cached. Raises
    `DeviceBuildError`."""

    def install(environment: Environment) -> Installation:
        library = device_library(settings, environment.wheel)
        package = None if library is not None else settings.package
        return Installation(
            settings.device, library, environment.python, environment.profile, package, settings.model_weights
        )

    return install


def device_library(settings: WorkerSettings, wheel: Path) -> Path | None:
    """The library of the emulated device for the torch in `wheel`; None for the CPU, which every torch has, and for a
    device whose package is installed beside torch. Raises `DeviceBuildError` and `CacheError`."""
    if settings.package != EMULATOR:
        return None
    return ensure_library(settings.libraries, wheel=wheel, device=settings.device)
