"""Every miss is told with a cause that can be checked."""

from __future__ import annotations

import pytest

from selector.ownership.model import Model
from tests.benchmarks.selection_cases import Case, Replay
from tests.benchmarks.selection_figures import Place
from tests.benchmarks.selection_report import cause, report_misses

CASE = Case("A", 1, "Change something", "2023-01-01", "c" * 40, ("test/test_b.py",))
FILES = {"test/test_a.py": {"paths in tests": 0.9}, "test/test_b.py": {"paths in tests": 0.2, "co-change": 0.1}}


def replay(*changed: str, files: dict[str, dict[str, float]] | None = None) -> Replay:
    found = FILES if files is None else files
    evidence = {"test/test_b.py": {"co-change": "changed with x"}}
    return Replay(found, {}, {}, changed, "", 1.0, evidence)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (("test/run_test.py", "torch/a.py"), "1 of 2 changed files concern every test alike (test/run_test.py)"),
        (("aten/a.cpp", "torch/a.h", "torch/a.py"), "2 of 3 changed files are native code that no test names"),
        (("torch/a.py",), "the test file hardly says what the 1 changed files are about"),
    ],
)
def test_a_cause_says_what_changed_and_what_came_nearest(changed: tuple[str, ...], expected: str) -> None:
    told = "; what puts test/test_b.py highest is co-change, with 0 files above it"
    assert cause(CASE, replay(*changed), "test/test_b.py") == expected + told


def test_a_miss_shows_what_its_signals_add_and_a_hit_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    model = Model({"paths in tests": 2.0, "co-change": 1.5}, 0.0, 0.0)
    found = [(CASE, replay("torch/a.py"))]
    report_misses(found, {CASE.name: Place(1, 2)}, {CASE.name: model})
    printed = capsys.readouterr().out
    assert "miss: A 1 at 50%: Change something" in printed
    assert "paths in tests 0.20 adds +0.40, 1 files above" in printed
    assert "co-change 0.10 adds +0.15, 0 files above: changed with x" in printed
    report_misses(found, {CASE.name: Place(0, 2)}, {CASE.name: model})
    assert capsys.readouterr().out == ""


def test_a_test_that_the_tree_does_not_have_is_a_cause_too(capsys: pytest.CaptureFixture[str]) -> None:
    gone = replay("torch/a.py", files={"test/test_a.py": {}})
    report_misses([(CASE, gone)], {CASE.name: Place(1, 1)}, {CASE.name: Model({}, 0.0, 0.0)})
    assert "cause: the tree has none of test/test_b.py" in capsys.readouterr().out
