"""The program behind `relay env`: JSON or one sentence, and nothing taken up that could not be used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.workers.pythons import make_venv
from workers.environments.program import main

COMPILER = """#!/bin/sh
case "$1" in -dump*) echo 0.0.1; exit;; esac
while [ "$1" != "-o" ]; do shift; done
echo run >> "$0.runs"
echo library > "$2"
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A quick one."""
    program = tmp_path / "bin" / "g++"
    program.parent.mkdir()
    program.write_text(COMPILER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


class Program:
    """Runs it in one work directory."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capture = folder, capture

    def __call__(self, *arguments: str) -> object:
        """Its answer."""
        code = main(["--work-dir", str(self.folder / "work"), *arguments])
        captured = self._capture.readouterr()
        assert code == 0, captured.err
        return json.loads(captured.out)

    def add(self, *arguments: str) -> object:
        return self("add", "--cache", str(self.folder / "cache"), *arguments)

    def refused(self, *arguments: str) -> str:
        assert main(["--work-dir", str(self.folder / "work"), *arguments]) == 1
        captured = self._capture.readouterr()
        assert captured.out == ""
        return captured.err


@pytest.fixture
def program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Program:
    return Program(tmp_path, capsys)


def test_an_environment_is_added_with_its_device_listed_and_removed(
    program: Program, compiler: Path, tmp_path: Path
) -> None:
    make_venv(tmp_path / "venv", "torch", "pytest")
    row = program.add("nightly", str(tmp_path / "venv"), "--profile", "spyre-2026-06")
    assert isinstance(row, dict)
    assert (row["name"], row["torch_version"], row["torch_git_sha"]) == ("nightly", "2.13.0+cpu", "c" * 40)
    assert (row["profile"], row["problem"]) == ("spyre-2026-06", "")
    assert [path.suffix for path in (tmp_path / "cache").glob("lib*")] == [".so"]
    rows = program("list", "--profile", "compat")
    assert isinstance(rows, list)
    assert [each["name"] for each in rows] == ["default", "nightly"]
    assert rows[1] == row
    program("remove", "nightly")
    assert [each["name"] for each in program("list")] == ["default"]  # type: ignore[attr-defined]  # a list, as above


def test_another_series_of_torch_is_refused_in_one_sentence(program: Program, compiler: Path, tmp_path: Path) -> None:
    make_venv(tmp_path / "venv", "torch", "pytest", version="2.12.1+cpu")
    said = program.refused("add", "--cache", str(tmp_path / "cache"), "old", str(tmp_path / "venv"))
    assert said.startswith("error: torch 2.12.1+cpu is installed, but the device needs torch 2.13")
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "work/environments.json").exists()


@pytest.mark.parametrize(
    ("name", "packages", "profile", "sentence"),
    [
        ("x", ("torch",), "compat", "pytest is not installed"),
        ("default", ("torch", "pytest"), "compat", "worker's own environment"),
        ("x", ("torch", "pytest"), "no-such-profile", "no-such-profile"),
        ("a b", ("torch", "pytest"), "compat", "cannot be a name"),
    ],
)
def test_what_could_not_be_used_is_refused_before_anything_is_compiled(
    program: Program,
    compiler: Path,
    tmp_path: Path,
    *,
    name: str,
    packages: tuple[str, ...],
    profile: str,
    sentence: str,
) -> None:
    make_venv(tmp_path / "venv", *packages)
    arguments = ("add", "--cache", str(tmp_path / "cache"), "--profile", profile, "--", name, str(tmp_path / "venv"))
    assert sentence in program.refused(*arguments)
    assert not compiler.with_name("g++.runs").exists()
    assert not (tmp_path / "work/environments.json").exists()


def test_a_compiler_that_fails_leaves_nothing(program: Program, compiler: Path, tmp_path: Path) -> None:
    compiler.write_text('#!/bin/sh\ncase "$1" in -dump*) echo 1; exit;; esac\necho "error: no" >&2; exit 1\n')
    make_venv(tmp_path / "venv", "torch", "pytest")
    said = program.refused("add", "--cache", str(tmp_path / "cache"), "x", str(tmp_path / "venv"))
    assert "could not build the device library" in said
    assert not (tmp_path / "work/environments.json").exists()


def test_a_name_that_is_taken_is_refused_at_once(program: Program, compiler: Path, tmp_path: Path) -> None:
    make_venv(tmp_path / "venv", "torch", "pytest")
    program.add("x", str(tmp_path / "venv"))
    assert "relay env remove x" in program.refused("add", "x", str(tmp_path / "venv"))


def test_a_broken_environment_is_listed_with_its_problem(program: Program, compiler: Path, tmp_path: Path) -> None:
    site = make_venv(tmp_path / "venv", "torch", "pytest")
    program.add("x", str(tmp_path / "venv"))
    (site / "torch/version.py").unlink()
    rows = program("list")
    assert isinstance(rows, list)
    assert (rows[1]["name"], rows[1]["torch_version"]) == ("x", "")
    assert "Install torch there again" in rows[1]["problem"]
