"""Runs upstream test files through the runner as a shard does: all that `bench_runner` measures on our side.

`python -m tests.benchmarks.run_files CHECKOUT LIBRARY SANDBOX FILE...`. Exit code 2 when a file does not collect or a
test is lost, so that nothing is measured that did not do its work.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from workers.runner.runner import Runner
from workers.runner.sandbox import SandboxMode, choose_sandbox
from workers.runner.types import Installation, RunnerTree, TestOutcome, WantedTest


def main() -> int:
    checkout, library, mode, *files = sys.argv[1:]
    tree = RunnerTree(Path(checkout))
    lost = 0
    with tempfile.TemporaryDirectory(prefix="run-files-") as scratch:
        sandbox = choose_sandbox(SandboxMode(mode))
        with Runner(Installation("spyre", Path(library)), Path(scratch), sandbox) as runner:
            for file in files:
                lost += _run(runner, tree, file)
    return 2 if lost else 0


def _run(runner: Runner, tree: RunnerTree, file: str) -> int:
    """How many tests were lost; a file that cannot be collected counts as one."""
    collection = runner.collect(tree, file)
    if not collection.tests:
        sys.stdout.write(f"{file}: {collection.error}\n")
        return 1
    outcomes: list[TestOutcome] = []
    runner.run(tree, file, [WantedTest(test.id) for test in collection.tests], outcomes.append, lambda: False)
    seen = Counter(str(outcome.observation) for outcome in outcomes)
    sys.stdout.write(f"{file}: {dict(seen)}\n")
    return len(collection.tests) - len(outcomes)


if __name__ == "__main__":
    sys.exit(main())
