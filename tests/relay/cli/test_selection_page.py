"""A selection as arguments of pytest: what pytest collects by them is what was selected."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from relay.cli.output import Output
from relay.cli.selection_page import show_pytest
from selector.types import BaseTest, Candidate
from tests.relay.cli.conftest import Relay

SOURCE = """
import unittest


class TestOps(unittest.TestCase):
    def test_add(self): pass
    def test_mul(self): pass
    def test_sub(self): pass


class TestNN(unittest.TestCase):
    def test_add(self): pass


def test_alone(): pass
"""


def candidates(*tests: BaseTest) -> list[Candidate]:
    return [Candidate(test, ()) for test in tests]


def test_pytest_collects_what_was_selected(relay: Relay, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By class and name, a function by its name; a class of another name is left alone."""
    (tmp_path / "test_a.py").write_text(SOURCE)
    wanted = [BaseTest("test_a.py", "TestOps", "test_add"), BaseTest("test_a.py", "TestOps", "test_sub")]
    model = BaseTest("models/granite", "", "logits")  # of which pytest knows nothing
    show_pytest(Output(), candidates(*wanted, model, BaseTest("test_a.py", "", "test_alone")))
    (line,) = capsys.readouterr().out.splitlines()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *shlex.split(line)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[:3] == [
        "test_a.py::TestOps::test_add",
        "test_a.py::TestOps::test_sub",
        "test_a.py::test_alone",
    ]
    assert "TestNN" not in done.stdout


def test_the_rest_of_a_file_is_all_of_it(relay: Relay, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be read off its text has no name to ask for. A line a file."""
    show_pytest(
        Output(),
        candidates(BaseTest("b c.py", "", ""), BaseTest("b c.py", "TestB", "test_b"), BaseTest("d.py", "T", "test_d")),
    )
    assert capsys.readouterr().out == "'b c.py'\nd.py -k '(T and (test_d))'\n"
