"""Runs test files to learn which functions their tests execute: `MapRecorder`. Judges no outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from selector.executed import FunctionMap, record
from selector.trees import DirectoryTree
from workers.runner.runner import Runner
from workers.runner.sandbox import Sandbox
from workers.runner.types import Installation, RunnerLimits, RunnerTree, WantedTest


class MapRecorder:
    """What is recorded of one tree, in a runner of its own."""

    def __init__(self, installation: Installation, scratch: Path, sandbox: Sandbox, limits: RunnerLimits) -> None:
        self._installation, self._scratch, self._sandbox, self._limits = installation, scratch, sandbox, limits
        self._ids: dict[str, str] = {}
        self._current: dict[str, set[str]] = {}

    def record_files(self, tree: RunnerTree, files: Sequence[str], note: Callable[[str], None]) -> FunctionMap:
        """The map of `files`. Those that cannot be collected whole are left out, and told to `note`."""
        recording: dict[str, dict[str, set[str]]] = {}
        with Runner(self._installation, self._scratch, self._sandbox, self._limits, self._take) as runner:
            for file in files:
                collection = runner.collect(tree, file)
                if collection.error or not collection.tests:
                    note(f"{file} is not recorded: {collection.error or 'it holds no tests'}")
                    continue
                self._ids = {test.id: str(test.base_test) for test in collection.tests}
                self._current = {}
                runner.run(tree, file, [WantedTest(test) for test in self._ids], lambda _: None, lambda: False)
                recording[file] = self._current
        return record(DirectoryTree(tree.checkout), recording)

    def _take(self, test: str, functions: frozenset[str]) -> None:
        self._current.setdefault(self._ids.get(test, ""), set()).update(functions)
