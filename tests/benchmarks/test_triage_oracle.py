"""The table of the oracle counts what is broken inside a cut, and its models say what they are called."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.types import BaseTest, Candidate, Stage, StageResult
from tests.benchmarks.selection_cases import Case
from tests.benchmarks.triage_oracle import _answer, _file_of, _judgements, _recalls, _shares
from tests.selector.triage.model_server import Heard
from tests.selector.upstream import MemoryTree, source_of_class

CASE = Case("A", 1, "title", "2023-01-01", "c" * 40, ("test/test_b.py",))
CATALOG = build_catalog(
    MemoryTree({f"test/test_{name}.py": source_of_class("TestX", "test_1", "test_2") for name in "abcd"})
)
QUESTION = '=== data x ===\n{"candidates": [{"id": "t1", "test": "test/test_b.py (2 tests)"}]}\n=== data x ==='


def test_shares_count_from_the_front() -> None:
    broken = [False] * 100
    broken[4] = broken[60] = True
    assert _shares(broken) == {0.01: 0.0, 0.02: 0.0, 0.05: 0.5, 0.1: 0.5, 0.25: 0.5}


def test_files_of_labels() -> None:
    assert {_file_of(label) for label in ("a.py", "a.py (3 tests)", "a.py::T (3 tests)", "a.py::T::t")} == {"a.py"}


def test_must_run_tests_come_first_and_what_is_not_tied_comes_last() -> None:
    kept = (Candidate(BaseTest("test/test_b.py", "TestX", "test_1"), score=0.2),)
    first = _recalls(CASE, CATALOG, StageResult(Stage.TRIAGE, kept, ()))
    assert first["files"][0.25] == 1.0
    sure = Candidate(BaseTest("test/test_c.py", "TestX", "test_1"), must_run=True, score=0.1)
    assert _recalls(CASE, CATALOG, StageResult(Stage.TRIAGE, (*kept, sure), ()))["files"][0.25] == 0.0


def test_the_models_look_once_and_then_judge() -> None:
    said = {}
    for name, judgement in _judgements(CASE).items():
        if judgement is None:
            continue
        assert _answer(Heard("", QUESTION, (), ("diff_hunk",), True, 10), judgement).calls
        said[name] = _answer(Heard("", QUESTION, ("shown",), ("diff_hunk",), True, 10), judgement).text
    assert '"run"' in said["oracle"]
    assert '"defer"' in said["inverted"]
    assert said["random"] in {said["oracle"], said["inverted"]}
