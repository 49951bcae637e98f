"""Which functions tests execute is recorded where a runner asks for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.workers.runner.bench import FILE, Bench
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import RunnerTree, WantedTest

SOURCE = """
    import threading, unittest

    def at_import(): return 1
    VALUE = at_import()
    def shared(): return [inner() for inner in (lambda: 1,)]
    def never(): pass
    def in_thread(): shared()

    class Sample(unittest.TestCase):
        def helper(self):
            def local(): return shared()
            return local()
        def test_one(self): self.helper()
        def test_two(self): shared()
        def test_thread(self):
            thread = threading.Thread(target=in_thread)
            thread.start()
            thread.join()
        def test_again(self): at_import()
"""


class Recording:
    def __init__(self, bench: Bench) -> None:
        self.executed: dict[str, set[str]] = defaultdict(set)
        self.runner = Runner(bench.installation, bench.scratch, Unconfined("for a test"), bench.limits, self._note)
        self._tree = bench.tree

    def _note(self, test: str, functions: frozenset[str]) -> None:
        self.executed[test.rpartition("::")[2]] |= functions

    def run(self, file: str = FILE, *, tree: RunnerTree | None = None) -> dict[str, set[str]]:
        tree = tree or self._tree
        wanted = [WantedTest(test.id) for test in self.runner.collect(tree, file).tests]
        self.runner.run(tree, file, wanted, lambda outcome: None, lambda: False)
        return self.executed

    def of(self, test: str, file: str = FILE) -> set[str]:
        """Names without their path, of the functions of one file."""
        return {name.partition(":")[2] for name in self.executed[test] if name.startswith(f"{file}:")}


@pytest.fixture
def recording(bench: Bench) -> Iterator[Recording]:
    made = Recording(bench)
    with made.runner:
        yield made


def test_every_test_and_the_collection_has_what_it_executed(bench: Bench, recording: Recording) -> None:
    bench.write(SOURCE)
    recording.run()
    assert recording.of("") == {"<module>", "Sample", "at_import"}
    assert recording.of("test_one") == {"Sample.test_one", "Sample.helper", "Sample.helper.local", "shared"}
    assert recording.of("test_two") == {"Sample.test_two", "shared"}
    assert recording.of("test_thread") == {"Sample.test_thread", "in_thread", "shared"}
    assert recording.of("test_again") == {"Sample.test_again", "at_import"}


def test_what_torch_executes_is_named_by_its_path_in_the_tree(bench: Bench, recording: Recording) -> None:
    bench.write("""
        import torch
        from torch.testing._internal.common_utils import TestCase

        class Sample(TestCase):
            def test_linear(self): torch.nn.Linear(2, 2)
            def test_none(self): pass
    """)
    recording.run(tree=RunnerTree(bench.checkout))
    assert "torch/nn/modules/linear.py:Linear.reset_parameters" in recording.executed["test_linear"]
    assert "torch/nn/modules/linear.py:Linear.reset_parameters" not in recording.executed["test_none"]
    assert "torch/nn/modules/linear.py:Linear" in recording.executed[""], "class bodies run when torch is imported"
    assert "torch/testing/_internal/common_utils.py:<module>" in recording.executed[""], "not run by a warm parent"
    assert not [name for names in recording.executed.values() for name in names if name.startswith(("/", ".."))]


def test_a_runner_that_does_not_ask_records_nothing(bench: Bench) -> None:
    bench.write("""
        import os, sys

        def test_nothing_is_installed():
            assert sys.getprofile() is None
            assert "OOT_RUNNER_FUNCTIONS" not in os.environ
    """)
    outcomes = bench.run_wanted(*(WantedTest(test.id) for test in bench.collect().tests))
    assert [outcome.detail for outcome in outcomes.values()] == [""]


def test_a_test_that_profiles_for_itself_ends_what_is_seen_of_it_alone(bench: Bench, recording: Recording) -> None:
    bench.write("""
        import sys

        def late(): pass
        def test_a(): sys.setprofile(None)
        def test_b(): late()
    """)
    recording.run()
    assert recording.of("test_b") == {"test_b", "late"}


def test_a_crash_keeps_what_was_told_before_it(bench: Bench, recording: Recording) -> None:
    """And the child after it numbers anew."""
    bench.write("""
        import os

        def one(): pass
        def two(): pass
        def test_a(): one()
        def test_crash(): os.abort()
        def test_b(): two()
    """)
    recording.run()
    assert recording.of("test_a") == {"test_a", "one"}
    assert recording.of("test_b") == {"test_b", "two"}
    assert recording.of("test_crash") == set()
