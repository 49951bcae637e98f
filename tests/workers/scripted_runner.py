"""A runner that plays a script instead of starting processes: what each test does, try by try, on each tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from relay.contract import Observation
from selector.types import CollectedTest
from workers.runner.types import Answer, Collection, RunnerTree, Task, TestOutcome, WantedTest

P, F, C, T, M, S = (
    Observation.PASSED, Observation.FAILED, Observation.CRASHED,
    Observation.TIMED_OUT, Observation.MISSING, Observation.SKIPPED,
)  # fmt: skip


def side(tree: RunnerTree) -> str:
    """`head` or `base`, by the folder's name."""
    return tree.checkout.name


def collected(file: str, cls: str, base: str, *variants: str) -> tuple[CollectedTest, ...]:
    """Generated tests of one base test on the device."""
    return tuple(
        CollectedTest(f"{file}::{cls}SPYRE::{base}{variant}", file, cls, base, f"{base}{variant}")
        for variant in (variants or ("_spyre",))
    )


@dataclass
class ScriptedRunner:
    """`script[(side, id)]` holds the observations in order; the last one stays, and a test without any passes."""

    script: Mapping[tuple[str, str], Sequence[Observation]] = field(default_factory=dict)
    collections: Mapping[tuple[str, str], Collection] = field(default_factory=dict)
    before_test: Callable[[str, str], None] = lambda side, test: None
    #: Why torch cannot be imported, by the name of its folder; `wheel` is the plain one.
    problems: Mapping[str, str] = field(default_factory=dict)
    probed: list[str] = field(default_factory=list)
    runs: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    #: What tasks answer on a side, and who was asked.
    answers: Mapping[str, Answer] = field(default_factory=dict)
    answered: list[tuple[str, str]] = field(default_factory=list)
    _left: dict[tuple[str, str], deque[Observation]] = field(default_factory=dict)

    def probe(self, tree: RunnerTree) -> str:
        self.probed.append(tree.torch_path.name if tree.torch_path else "wheel")
        return self.problems.get(self.probed[-1], "")

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        return self.collections.get((side(tree), file), Collection((), f"{file} is not in the tree"))

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        ids = tuple(test.id for test in tests)
        self.runs.append((side(tree), file, ids))
        for test in ids:
            if should_stop():
                return
            self.before_test(side(tree), test)
            observation = self._next((side(tree), test))
            on_outcome(TestOutcome(test, observation, 0.5, f"{observation} on {side(tree)}"))

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer:
        self.answered.append((side(tree), task.file))
        return self.answers.get(side(tree), Answer(b"", f"no answer on {side(tree)}"))

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.run(tree, task.file, tests, on_outcome, should_stop)

    def _next(self, key: tuple[str, str]) -> Observation:
        left = self._left.setdefault(key, deque(self.script.get(key, ())))
        if not left:
            return P
        return left.popleft() if len(left) > 1 else left[0]


HEAD, BASE = RunnerTree(Path("/trees/head"), None), RunnerTree(Path("/trees/base"), None)
