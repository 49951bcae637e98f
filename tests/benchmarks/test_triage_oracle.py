"""The models of the oracle say what they are called, and a toy case goes through the whole of it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from selector.types import BaseTest
from tests.benchmarks.triage_oracle import answer, judgements, main, name_of
from tests.selector.triage.model_server import Heard
from tests.selector.upstream import Repository, source_of_class

BROKEN = [frozenset({BaseTest("test/test_b.py", "TestX", "test_1")})]
NAMES = ("test/test_b.py", "test/test_b.py::TestX", "test/test_b.py::TestX::test_1", "test/test_b.py::TestX::test_2")
QUESTION = '=== data x ===\n{"candidates": [{"id": "t1", "test": "test/test_b.py (2 tests)"}]}\n=== data x ==='


def test_labels_without_their_counts() -> None:
    assert {name_of(label) for label in ("a.py", "a.py (3 tests)")} == {"a.py"}
    assert name_of("a.py::T (3 tests)") == "a.py::T"


def test_the_oracle_wants_what_holds_a_broken_test_and_the_inverted_one_all_else() -> None:
    models = dict(judgements("c", BROKEN, 1))
    assert [models["oracle"](name) for name in NAMES] == [True, True, True, False]
    assert [models["inverted"](name) for name in NAMES] == [False, False, False, True]


def test_random_models_differ_by_seed_and_repeat_themselves() -> None:
    names = [f"test/test_{number}.py" for number in range(200)]
    first, second = ([judge for name, judge in judgements("c", BROKEN, 2) if name == "random"] for _ in range(2))
    said = [[judge(name) for name in names] for judge in first]
    assert said[0] != said[1]
    assert said == [[judge(name) for name in names] for judge in second]
    assert all(60 < sum(one) < 140 for one in said)


def test_the_models_look_once_and_then_judge() -> None:
    said = {}
    for name, judgement in judgements("c", BROKEN, 1):
        assert answer(Heard("", QUESTION, (), ("diff_hunk",), True, 10), judgement).calls
        said[name] = answer(Heard("", QUESTION, ("shown",), ("diff_hunk",), True, 10), judgement).text
    assert '"run"' in said["oracle"]
    assert '"defer"' in said["inverted"]
    assert said["random"] in {said["oracle"], said["inverted"]}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "upstream"
    folder.mkdir()
    return Repository(folder)


def _breaking(repository: Repository) -> str:
    """A small history whose last commit breaks a test."""
    tests = {
        f"test/test_{name}.py": "from torch.gelu import other\n" + source_of_class("TestX", "test_1", "test_2")
        for name in "abc"
    }
    repository.commit({"torch/gelu.py": "def gelu(a):\n    return a\n\n\ndef other():\n    pass\n", **tests})
    return repository.commit({"torch/gelu.py": "def gelu(a):\n    return -a\n\n\ndef other():\n    pass\n"})


def _arguments(folder: Path, repository: Repository, broken: Sequence[str]) -> list[str]:
    case = {
        "tier": "A",
        "pr": 1,
        "title": "Change gelu",
        "date": "2023-01-01",
        "failing_tests": list(broken),
        "broke_commit": _breaking(repository),
    }
    (folder / "cases.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    times = {"default": {"default": {"test_a": 100.0, "test_b": 10.0, "test_c": 10.0}}}
    (folder / "times.json").write_text(json.dumps(times), encoding="utf-8")
    return [
        *("oracle", "--history", str(repository.path), "--cases", str(folder / "cases.jsonl")),
        *("--times", str(folder / "times.json"), "--work", str(folder / "work"), "--seeds", "1"),
    ]


def test_a_toy_case_through_every_model(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", _arguments(tmp_path, repository, ["test/test_b.py::TestX::test_1"]))
    code = main()
    out = capsys.readouterr().out
    assert code == int("fault: " in out)  # of one case and three files a single place is more than a point
    assert "as planned, with what it puts off, 1 cases in which stage 3 is asked" in out
    rows = [line.split() for line in out.splitlines() if re.match(r"\d+%", line)]
    assert [row[1] for row in rows] == ["off", "oracle", "random", "inverted"] * 4 * 4
    assert all(float(row[-2]) == 1.0 for row in rows)
    recalls = [float(row[2]) for row in rows]
    assert all(oracle >= off for off, oracle in zip(recalls[::4], recalls[1::4], strict=True))
    assert max(recalls[1::4]) == 1.0
    assert out.count("2.0 turns  2.0 tool calls") == 3 * 4


def test_a_case_whose_tests_are_not_in_the_tree_is_left_out(
    tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", _arguments(tmp_path, repository, ["test/test_gone.py"]))
    assert main() == 1
    assert "A 1: left out: the tree has none of test/test_gone.py" in capsys.readouterr().err
