"""PyTorch's own target determination, run for real from a local tree: `TargetDetermination(tree).scores(...)`.

Its code is loaded from the tree in a child process and never copied. What it would ask git, GitHub and its statistics
store for is handed in: the changed files, the commit's message, and how files changed together in the year before. Its
inputs that exist nowhere offline (failure ratings, coverage, a model's answers, an earlier run) stay empty.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PACKAGE = "tools.testing.target_determination"
_TIMEOUT_S = 600


class TargetDeterminationError(Exception):
    """The tree's code did not answer; the message holds the end of what it wrote."""


class TargetDetermination:
    """The heuristics of the tree at `tree`, which has `tools/testing/target_determination`."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree.resolve()

    def scores(
        self, tests: Sequence[str], changed: Sequence[str], message: str, together: Mapping[str, float]
    ) -> Mapping[str, float]:
        """Its score for each test file (paths in, paths out); `together` is the co-change of test files. Raises
        `TargetDeterminationError`."""
        names = {_name(path): path for path in tests}
        ratings = {_name(path): weight for path, weight in together.items()}
        question = {"tests": list(names), "changed": list(changed), "message": message, "ratings": ratings}
        command = [sys.executable, str(Path(__file__).resolve()), str(self._tree)]
        try:
            done = subprocess.run(
                command, input=json.dumps(question), capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise TargetDeterminationError(f"no answer in {_TIMEOUT_S} s") from error
        if done.returncode:
            raise TargetDeterminationError(done.stderr[-500:])
        return {names[name]: float(score) for name, score in json.loads(done.stdout).items()}


def _name(path: str) -> str:
    """Its name for a test file."""
    return path.removeprefix("test/").removesuffix(".py")


def _answer(tree: str, question: Mapping[str, Any]) -> Mapping[str, float]:
    """In the child: let the tree's heuristics rank, with their questions to the outside answered from `question`."""
    sys.path.insert(0, tree)
    determinator = importlib.import_module(f"{_PACKAGE}.determinator")
    for name in ("edited_by_pr", "filepath", "public_bindings", "mentioned_in_pr", "utils"):
        module = importlib.import_module(f"{_PACKAGE}.heuristics.{name}")
        vars(module)["query_changed_files"] = lambda: list(question["changed"])
        vars(module)["get_git_commit_info"] = lambda: question["message"]
        vars(module)["get_pr_number"] = lambda: None
        vars(module)["get_issue_or_pr_body"] = lambda _: ""
    for name in ("historical_edited_files", "correlated_with_historical_failures", "profiling", "llm"):
        known = question["ratings"] if name == "historical_edited_files" else {}
        vars(importlib.import_module(f"{_PACKAGE}.heuristics.{name}"))["get_ratings_for_tests"] = (
            lambda _, known=known: dict(known)
        )
    ranked = determinator.get_test_prioritizations(list(question["tests"])).get_aggregated_priorities()
    return {run.test_file: score for score, run in ranked._traverse_scores()}  # its one way to read the scores


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):  # it reports as it goes
        answer = _answer(sys.argv[1], json.load(sys.stdin))
    sys.stdout.write(json.dumps(answer))
