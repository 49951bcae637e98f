"""Opens the runner for one of the two devices that benchmarks compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workers.runner.runner import Runner
from workers.runner.sandbox import Sandbox
from workers.runner.types import Installation, RunnerLimits
from workers.spyre.build import ensure_library


@dataclass(frozen=True, slots=True)
class Devices:
    """What a runner needs. `cache` keeps built device libraries, `profile` is the device's rule profile."""

    cache: Path
    scratch: Path
    sandbox: Sandbox
    limits: RunnerLimits
    profile: str = "compat"

    def open(self, device: str) -> Runner:
        """A runner, not entered yet. Builds the device's library when it is not there. Raises `DeviceBuildError`."""
        library = None if device == "cpu" else ensure_library(self.cache)
        installation = Installation(device, library, profile=self.profile)
        return Runner(installation, self.scratch, self.sandbox, self.limits)
