"""Why a change is not tested on this machine: a build is needed, or tree and wheel do not fit.

Owns these two answers and their sentences. Asked even when nothing was selected: a change of native code that no rule
connects to a test is not thereby shown to be harmless. A torch that cannot be imported whatever the change is neither
of them, but a fault of the environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.contract import MESSAGE_CAP, NotTested, NotTestedReason
from workers.builds.build_process import BuildFailedError
from workers.builds.native_build import ShardBuilds
from workers.device_runner import DeviceRunner
from workers.environments.choice import has_release
from workers.environments.environment import Environment, EnvironmentProblemError
from workers.shards.report import capped, not_tested
from workers.shards.tested_trees import TestedTrees
from workers.upstream.overlay_merge import SkewError

_LINES_KEPT = 40
_PROBLEM_CAP = 2_000


@dataclass(frozen=True, slots=True)
class Refusals:
    """Looks for reasons against testing one change in one environment."""

    trees: TestedTrees
    runner: DeviceRunner
    environment: Environment

    def find(self, *, import_too: bool) -> NotTested | None:
        """The reason, or None. With `import_too` base's torch is imported where it is another than the wheel.

        Raises:
            BuildStoppedError: when the shard is to stop.
            EnvironmentProblemError: for a wheel that cannot be imported even as it is.
            GitError: when git fails.
        """
        if self.trees.built_files:
            return self._of_build(self.trees.builds)
        try:
            overlay = self.trees.overlay
        except SkewError as skew:
            return not_tested(NotTestedReason.SKEW, str(skew))
        return None if overlay.is_empty or not import_too else self._of_import()

    def _of_build(self, builds: ShardBuilds | None) -> NotTested | None:
        touched = self.trees.built_files
        if builds is None:
            return not_tested(NotTestedReason.NEEDS_BUILD, f"{touched}, and no build is configured.")
        checkout = self.trees.checkout
        try:
            builds.torch(checkout.change.head_sha)
        except BuildFailedError as failure:
            fault = self._base_builds(builds)
            said = f"{touched}, and torch cannot be built with it. {failure.reason} {fault}"
            return not_tested(
                NotTestedReason.NEEDS_BUILD, f"{said}{_last_lines(failure.tail, MESSAGE_CAP - len(said))}"
            )
        return None

    def _base_builds(self, builds: ShardBuilds) -> str:
        """Whose fault a failed build is."""
        try:
            builds.torch(self.trees.checkout.base_sha)
        except BuildFailedError as failure:
            return f"Base cannot be built either ({failure.reason}), so the command or this machine may be at fault."
        return "Base builds, so it is the change that breaks the build."

    def _of_import(self) -> NotTested | None:
        """When it is only head that cannot be imported, that is a finding of the change and shows in its tests."""
        problem = self.runner.probe(self.trees.probed())
        if not problem:
            return None
        plain = self.runner.probe(self.trees.plain())
        if plain:
            raise EnvironmentProblemError(
                f"The torch of environment {self.environment.name} cannot be imported: {capped(plain, _PROBLEM_CAP)} "
                "Install it again, or take the environment from the worker."
            )
        return not_tested(
            NotTestedReason.SKEW,
            f"The installed torch {self.environment.torch.version} cannot be imported with the base commit's version "
            "of the changed files. Test it with a torch wheel built nearer to the base commit. "
            f"{capped(problem, _PROBLEM_CAP)}",
        )


def other_release(release: str, environment: Environment) -> NotTested | None:
    """Why tests that need a release cannot run here, None where they can: another torch would answer for itself."""
    if not release or has_release(environment, release):
        return None
    return not_tested(
        NotTestedReason.SKEW,
        f"The tests need torch {release}, and the nearest that this worker has is {environment.torch.shown} of "
        f"environment {environment.name}. Give the device's workers one with it: relay env add NAME PYTHON.",
    )


def none_generated(release: str, notes: Sequence[str]) -> NotTested:
    """Nothing of what was asked for can be run on a release, which is not the same as that nothing broke."""
    why = " ".join(notes)
    return not_tested(
        NotTestedReason.SKEW, capped(f"None of the tests asked for runs on torch {release} here. {why}", MESSAGE_CAP)
    )


def _last_lines(tail: str, room: int) -> str:
    """The end of a build's output, with the last of it kept where not all fits."""
    lines = "\n".join(tail.strip().splitlines()[-_LINES_KEPT:])
    heading = " It ended with:\n"
    return heading + lines[-(room - len(heading)) :] if lines else ""
