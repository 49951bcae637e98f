"""An interpreter lays files over the installed ones in a namespace of its own, and says so when it cannot start."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.mutation_place import Place, PlaceError


def test_without_anything_laid_over_it_is_this_python(tmp_path: Path) -> None:
    place = Place(None, tmp_path, tmp_path)
    program = place.interpreter("plain", {})
    done = subprocess.run([program, "-c", "print(6 * 7)"], capture_output=True, text=True, check=True)
    assert done.stdout == "42\n"
    assert "mount" not in program.read_text()


def test_a_laid_file_is_mounted_over_the_installed_one_where_nobody_else_sees_it(tmp_path: Path) -> None:
    laid = tmp_path / "a file.py"
    place = Place(None, tmp_path, tmp_path)
    lines = place.interpreter("mutant", {"torch/nn/init.py": laid}).read_text().splitlines()
    installed = place.installed("torch/nn/init.py")
    assert installed.is_file()
    assert f"mount --bind '{laid}' {installed}" in lines
    assert "unshare --mount" in lines[2]
    assert "--propagation private" in lines[2]


def test_a_system_without_torch_is_told(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "work").mkdir()
    with pytest.raises(PlaceError, match="no Python with torch answers in"):
        Place(tmp_path / "root", tmp_path, tmp_path / "work")
