"""Labels come from tests that pass twice without a change; files are tried in an order that folders share."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.mutation_place import Place
from tests.benchmarks.mutation_runs import BaseFile, Bench, candidates, clean, differing, failing

BASE = [
    BaseFile("a.py", {"a": "a", "b": "b"}, {"a": "passed", "b": "passed"}, 1.0),
    BaseFile("c.py", {"c": "c", "d": "d"}, {"c": "failed", "d": "passed"}, 1.0),
]
NULL = {"a": "passed", "b": "failed", "c": "failed", "d": "passed"}
TEST = """
import pytest
import torch


def test_new():
    assert torch.nn.init.calculate_gain("linear") == 1


@pytest.mark.parametrize("number", [1, 2])
def test_number(number):
    assert number


def test_red():
    raise AssertionError
"""


def test_only_what_passes_twice_is_labelled() -> None:
    assert clean(BASE, NULL) == {"a", "d"}
    assert differing(BASE, NULL) == ["b"]


def test_failing_is_all_that_no_longer_passes_but_a_skip() -> None:
    labelled = frozenset({"a", "b", "c", "d", "e", "f"})
    seen = {"a": "passed", "b": "skipped", "c": "failed", "d": "crashed", "e": "timed_out"}
    assert failing(seen, labelled) == {"c", "d", "e", "f"}


def test_folders_take_turns(tmp_path: Path) -> None:
    for file in ("test/test_a.py", "test/nn/test_b.py", "test/nn/test_c.py", "test/distributed/test_d.py", "test/e.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    found = candidates(tmp_path)
    assert found[0] == "test/test_a.py"
    assert sorted(found[1:]) == ["test/nn/test_b.py", "test/nn/test_c.py"]


def bench(root: Path) -> tuple[Bench, Path]:
    """A tree with one test file, the torch of this Python, and the folder for results."""
    (root / "tree/test").mkdir(parents=True)
    (root / "tree/test/test_a.py").write_text(TEST)
    work = root / "work"
    work.mkdir()
    return Bench(Place(None, root / "tree", work), root / "tree", work), work


def test_a_run_sees_every_test_and_is_kept(tmp_path: Path) -> None:
    """What is kept is not run again, so that a run that was cut off goes on."""
    runs, work = bench(tmp_path)
    (file,) = runs.base(tmp_path / "tree", 10.0, 60.0, lambda _: None)
    assert dict(file.tests)["test/test_a.py::test_number[1]"] == "test/test_a.py::test_number"
    assert runs.whole("null", [file], {}) == file.seen
    assert clean([file], file.seen) == {test for test in file.tests if not test.endswith("red")}
    (tmp_path / "tree/test/test_a.py").write_text("def test_new():\n    raise AssertionError\n")
    assert runs.base(tmp_path / "tree", 10.0, 60.0, lambda _: None) == [file]
    assert runs.whole("null", [file], {}) == file.seen
    assert failing(runs.whole("later", [file], {}), clean([file], file.seen)) == {
        "test/test_a.py::test_new",
        "test/test_a.py::test_number[1]",
        "test/test_a.py::test_number[2]",
    }
    assert sorted(path.name for path in (work / "runs").iterdir()) == ["later.json", "null.json"]
