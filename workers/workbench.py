"""What this machine tests with: its environments, the device in them, and how test processes are confined.

Owns which environment a shard uses. All shards of a run use the same one: the first chooses, the others are told and
refuse to run in another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from relay.contract import SHORT_CAP, TestedOn
from workers.builds.native_build import NativeBuilds
from workers.device_runner import DeviceRunner
from workers.environments.choice import Choice, choose, has_release
from workers.environments.environment import Environment, EnvironmentProblemError
from workers.runner.types import Installation
from workers.shards.report import capped
from workers.upstream.checkout import Checkout


@dataclass(frozen=True, slots=True)
class Bench:
    """`environments` gives those that can be used now, the worker's own first. `install` makes sure that an
    environment has its device; `make_runner` gets a scratch folder. `confinement` is the sandbox in words, and
    `confined` whether test code can change no file of this machine. `builds` is
    None where no build command is configured."""

    environments: Callable[[], Sequence[Environment]]
    install: Callable[[Environment], Installation]
    make_runner: Callable[[Path, Installation], AbstractContextManager[DeviceRunner]]
    confinement: str
    confined: bool = False
    builds: NativeBuilds | None = None

    def choose(self, checkout: Checkout, release: str = "") -> Choice:
        """The environment for a change that has none yet: the nearest of the `release`, or, where this machine has none
        of it, the nearest of all. Raises `GitError` and `EnvironmentProblemError`."""
        known = self.environments()
        fitting = [found for found in known if has_release(found, release)]
        return choose(fitting or known, checkout.mirror, checkout.base_sha)

    def planned(self, tested_on: TestedOn) -> Environment:
        """The environment that a run was planned on.

        Raises:
            EnvironmentProblemError: when this machine has none like it (any more).
        """
        known = self.environments()
        alike = [found for found in known if _trait(self.tested_on(found)) == _trait(tested_on)]
        named = [found for found in alike if found.name == tested_on.name]
        if not alike:
            raise EnvironmentProblemError(
                f"The run was planned on torch {tested_on.torch_version} of environment {tested_on.name}, and this "
                "worker has no such environment. Give all workers of a device the same ones, or rerun the change."
            )
        return (named or alike)[0]

    def tested_on(self, environment: Environment) -> TestedOn:
        """What the record keeps of an environment."""
        return TestedOn(
            name=environment.name,
            torch_version=capped(environment.torch.version, SHORT_CAP),
            torch_git_sha=environment.torch.git_sha,
            python_version=environment.python_version,
            device_profile=capped(environment.profile, SHORT_CAP),
            sandbox=capped(self.confinement, SHORT_CAP),
        )


def _trait(tested: TestedOn) -> tuple[str, ...]:
    """What makes two environments give the same answers, wherever they lie and whatever they are called."""
    return tested.torch_version, tested.torch_git_sha, tested.python_version, tested.device_profile
