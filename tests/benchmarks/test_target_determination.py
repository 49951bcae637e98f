"""Upstream's code is run from the tree it stands in, and asks nobody but us."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.target_determination import TargetDetermination, TargetDeterminationError

HEURISTICS = (
    "edited_by_pr",
    "filepath",
    "public_bindings",
    "mentioned_in_pr",
    "utils",
    "historical_edited_files",
    "correlated_with_historical_failures",
    "profiling",
    "llm",
)
DETERMINATOR = """
from types import SimpleNamespace

from tools.testing.target_determination.heuristics import edited_by_pr, mentioned_in_pr, profiling
from tools.testing.target_determination.heuristics import historical_edited_files as historical

print("reports as it goes")


class Ranked:
    def __init__(self, scores):
        self._scores = scores

    def get_aggregated_priorities(self):
        return self

    def _traverse_scores(self):
        return [(score, SimpleNamespace(test_file=name)) for name, score in self._scores.items()]


def get_test_prioritizations(tests):
    print("and while it ranks")
    scores = dict.fromkeys(tests, 0.0)
    for name in tests:
        scores[name] += f"test/{name}.py" in edited_by_pr.query_changed_files()
        scores[name] += historical.get_ratings_for_tests("any").get(name, 0)
        scores[name] += profiling.get_ratings_for_tests("any").get(name, 0)
        scores[name] += name in mentioned_in_pr.get_git_commit_info()
        assert mentioned_in_pr.get_pr_number() is None and mentioned_in_pr.get_issue_or_pr_body(1) == ""
    return Ranked(scores)
"""


def tree(root: Path, determinator: str = DETERMINATOR) -> Path:
    """A tree laid out like upstream's, with heuristics that would ask the outside."""
    package = root / "tools/testing/target_determination"
    (package / "heuristics").mkdir(parents=True)
    for folder in (root / "tools", root / "tools/testing", package, package / "heuristics"):
        (folder / "__init__.py").write_text("")
    for name in HEURISTICS:
        (package / "heuristics" / f"{name}.py").write_text(
            "def query_changed_files():\n    raise OSError('asked git')\n"
        )
    (package / "determinator.py").write_text(determinator)
    return root


def test_the_heuristics_are_answered_with_the_change_at_hand(tmp_path: Path) -> None:
    scores = TargetDetermination(tree(tmp_path)).scores(
        ["test/test_a.py", "test/nn/test_b.py", "test/test_c.py", "test/test_d.py"],
        ["test/test_a.py"],
        "mentions test_c",
        {"test/nn/test_b.py": 0.25},
    )
    assert scores == {"test/test_a.py": 1, "test/nn/test_b.py": 0.25, "test/test_c.py": 1, "test/test_d.py": 0}


def test_code_that_fails_is_one_error_with_its_last_words(tmp_path: Path) -> None:
    broken = TargetDetermination(tree(tmp_path, "raise RuntimeError('no such heuristic')\n"))
    with pytest.raises(TargetDeterminationError, match="no such heuristic"):
        broken.scores(["test/test_a.py"], [], "", {})
