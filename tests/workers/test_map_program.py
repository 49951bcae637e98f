"""The program behind `relay map record`: real tests, the installed torch, a map that grows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from selector.executed import open_map
from selector.known import FunctionId

TEST = """
import unittest
import torch

class TestInit(unittest.TestCase):
    def test_linear(self): torch.nn.Linear(2, 2)
    def test_nothing(self): pass
"""
FUNCTION = "def test_far(): pass\n"
KERNEL = FunctionId("torch/nn/modules/linear.py", "Linear.reset_parameters")


def record(tree: Path, out: Path, *files: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "workers.map_program", "--device", "cpu"]
    command = [*program, "--tree", str(tree), "--out", str(out), "--", *files]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=Path(__file__).parents[2]
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree whose torch names what the installed one executes."""
    source = "class Linear:\n    def reset_parameters(self): pass\n"
    for name, text in {"test/test_init.py": TEST, "test/test_far.py": FUNCTION, KERNEL.path: source}.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def test_what_tests_execute_of_torch_is_recorded_and_added_to(tree: Path, tmp_path: Path) -> None:
    done = record(tree, tmp_path / "map", "test/test_init.py")
    assert done.returncode == 0, done.stderr
    assert open_map(tmp_path / "map").executing([KERNEL]) == {KERNEL: ["test/test_init.py::TestInit::test_linear"]}
    done = record(tree, tmp_path / "map", "test/test_far.py", "test/test_gone.py")
    assert "test/test_gone.py is not recorded" in done.stderr
    figures = json.loads(done.stdout)
    assert (figures["recorded"], figures["files"], figures["tests"]) == (["test/test_far.py"], 2, 3)


def test_a_map_that_is_none_is_not_written_over(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "map").write_text("something precious")
    done = record(tree, tmp_path / "map", "test/test_far.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: this is no function map")
    assert (tmp_path / "map").read_text() == "something precious"
