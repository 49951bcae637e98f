"""A breaking change is replayed from its own tree and its own past, kept, and ranked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from selector.history import CommitStore
from selector.trees import DirectoryTree
from tests.benchmarks import selection
from tests.benchmarks.selection_cases import Replays, read_cases
from tests.benchmarks.selection_rankings import OURS
from tests.selector.conftest import repository as repository  # noqa: PLC0414 - a fixture of the other room
from tests.selector.upstream import Repository

FILES: dict[str, str | bytes | None] = {
    "torch/nn/gelu.py": "def gelu(x):\n    return x\n",
    "test/test_gelu.py": "def test_gelu(): gelu()\n",
    "test/nn/test_past.py": "def test_past(): pass\n",
    "test/test_far.py": "def test_far(): pass\n",
}


def cases(repository: Repository, folder: Path) -> Path:
    """Two cases: a change of `gelu` that broke its test, and one that broke a folder; and one of another tier."""
    for path, content in FILES.items():
        repository.commit({path: content})
    repository.commit({"torch/nn/gelu.py": "def gelu(x):\n    return x + 0\n", "test/nn/test_past.py": "x = 1\n"})
    first = repository.commit({"torch/nn/gelu.py": "def gelu(x):\n    return -x\n"})
    second = repository.commit({"torch/nn/gelu.py": "def gelu(x):\n    return 2 * x\n", "test/test_far.py": "y = 1\n"})
    shared = {"pr": 1, "title": "Change gelu", "tier": "A"}
    lines = [
        {**shared, "date": "2022-01-01", "broke_commit": first, "failing_tests": ["test/test_gelu.py::T::test_gelu"]},
        {**shared, "date": "2022-02-01", "broke_commit": second, "failing_tests": ["test/nn/"], "tier": "A2", "pr": 2},
        {**shared, "date": "2022-03-01", "broke_commit": first, "failing_tests": [], "tier": "B"},
    ]
    file = folder / "cases.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return file


def test_a_case_knows_which_files_it_broke(repository: Repository, tmp_path: Path) -> None:
    first, second = read_cases(cases(repository, tmp_path))
    assert [path for path in sorted(FILES) if first.broke(path)] == ["test/test_gelu.py"]
    assert [path for path in sorted(FILES) if second.broke(path)] == ["test/nn/test_past.py"]
    assert (first.name, second.name) == ("A 1", "A2 2")


def test_a_replay_sees_the_past_of_the_change_and_not_the_change(repository: Repository, tmp_path: Path) -> None:
    first, second = read_cases(cases(repository, tmp_path))
    with CommitStore(tmp_path / "history") as store:
        replays = Replays(repository.path, tmp_path, store, None)
        later, earlier = replays.of(second), replays.of(first)
        assert replays.of(first) == earlier  # kept, and read back as it was
    assert earlier.changed == ["torch/nn/gelu.py"]
    assert earlier.must_run == {"test/test_gelu.py": 1.0}
    assert earlier.files["test/nn/test_past.py"]["co-change"] > 0
    assert "co-change" not in earlier.files["test/test_far.py"]
    assert "co-change" not in later.files["test/test_far.py"]  # only the change itself edits both
    assert set(later.evidence) == {"test/nn/test_past.py"}


def test_the_command_prints_every_ranking_and_writes_examples(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases(repository, tmp_path)
    arguments = ["--history", str(repository.path), "--cases", str(file), "--work", str(tmp_path / "work")]
    out, examples = tmp_path / "out.json", tmp_path / "examples.jsonl"
    arguments += ["--json", str(out), "--examples", str(examples), "--cold", "1", "--warm", "1"]
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"default": {"default": {"test_gelu": 1.0, "test_far": 9.0}}}), encoding="utf-8")
    arguments += ["--times", str(times)]
    monkeypatch.setattr("sys.argv", ["selection", *arguments])
    monkeypatch.setattr(selection, "FOLDS", 2)
    assert selection.main() == 0
    printed = capsys.readouterr().out
    for name in ("random", "edited only", "file names", "co-change", "BM25", "rules alone", OURS):
        assert f"\n  {name}" in printed
    assert "tier A, 1 cases: hits at 25% of the seconds of all files" in printed
    assert "seconds cold, 1 cases" in printed
    assert json.loads(out.read_text(encoding="utf-8"))["A 1"]["rank"][OURS] == 0
    assert [json.loads(line)["broke"] for line in examples.read_text(encoding="utf-8").splitlines()] == [
        ["test/test_gelu.py"],
        ["test/nn/test_past.py"],
    ]


def test_a_change_can_be_timed_on_the_tests_of_another_tree(repository: Repository, tmp_path: Path) -> None:
    first, _ = read_cases(cases(repository, tmp_path))
    with CommitStore(tmp_path / "history") as store:
        replays = Replays(repository.path, tmp_path, store, None)
        assert 0 < replays.seconds_on(first, DirectoryTree(repository.path), None) < 60
