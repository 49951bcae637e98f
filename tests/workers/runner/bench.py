"""A small upstream checkout in a temporary folder, and a runner that notes what it is told."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from relay.contract import Observation
from selector.types import CollectedTest
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import Collection, Installation, RunnerLimits, RunnerTree, TestOutcome, WantedTest

FILE = "test/test_sample.py"


def alive(pid: int) -> bool:
    """Whether a process exists and is not merely waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@dataclass
class Bench:
    """A checkout with one test file, and the outcomes of running it."""

    folder: Path
    overlay: Path | None
    limits: RunnerLimits = field(default_factory=lambda: RunnerLimits(test_timeout_s=60, collect_timeout_s=60))
    outcomes: list[TestOutcome] = field(default_factory=list)
    installation: Installation = field(default_factory=lambda: Installation("cpu", None))
    _runner: Runner | None = None

    @property
    def checkout(self) -> Path:
        return self.folder / "upstream"

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    @property
    def tree(self) -> RunnerTree:
        return RunnerTree(self.checkout, self.overlay)

    @property
    def runner(self) -> Runner:
        """One runner for all uses, made with the limits of its first."""
        if self._runner is None:
            self._runner = Runner(self.installation, self.scratch, Unconfined("for a test"), self.limits)
        return self._runner

    def close(self) -> None:
        """End the runner's processes."""
        if self._runner is not None:
            self._runner.__exit__()
            self._runner = None

    def write(self, source: str, file: str = FILE) -> None:
        path = self.checkout / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))

    def collect(self, file: str = FILE) -> Collection:
        return self.runner.collect(self.tree, file)

    def run(self, *names: str, should_stop: Callable[[], bool] = lambda: False) -> dict[str, TestOutcome]:
        """Run `Sample::name` for each name; the outcomes by name. Fails when an id has more than one."""
        return self.run_wanted(*(WantedTest(self.id(name)) for name in names), should_stop=should_stop)

    def run_wanted(
        self, *wanted: WantedTest, should_stop: Callable[[], bool] = lambda: False
    ) -> dict[str, TestOutcome]:
        """As `run`, for tests with wishes of their own."""
        self.runner.run(self.tree, FILE, wanted, self.outcomes.append, should_stop)
        assert len({outcome.id for outcome in self.outcomes}) == len(self.outcomes)
        return {outcome.id.rpartition("::")[2]: outcome for outcome in self.outcomes}

    def run_tests(self, tests: Iterable[CollectedTest]) -> list[TestOutcome]:
        """Run what was collected; the outcomes as they came."""
        wanted = [WantedTest(test.id) for test in tests]
        self.runner.run(self.tree, FILE, wanted, self.outcomes.append, lambda: False)
        return self.outcomes

    def seen(self, *names: str) -> list[Observation]:
        """The observations of a run of `names`, in their order."""
        outcomes = self.run(*names)
        return [outcomes[name].observation for name in names]

    @staticmethod
    def id(name: str) -> str:
        return f"{FILE}::Sample::{name}"
