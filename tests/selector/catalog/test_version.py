"""Another reader is another version, so that nothing it would read otherwise is recalled."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import selector

ASK = "from selector.catalog.version import PARSER; print(PARSER)"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the selector whose sources may be changed."""
    shutil.copytree(Path(selector.__file__).parent, tmp_path / "selector", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def version(folder: Path) -> str:
    command = [sys.executable, "-B", "-c", ASK]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("changed", ["catalog/outline.py", "catalog/record.py", "catalog/imports.py", "source.py"])
def test_any_change_of_the_readers_source_is_another_version(copied: Path, changed: str) -> None:
    before = version(copied)
    assert len(before) == 64
    assert version(copied) == before
    source = copied / "selector" / changed
    source.write_text(source.read_text() + "\n")
    assert version(copied) != before


def test_a_new_module_of_the_package_is_another_version(copied: Path) -> None:
    before = version(copied)
    (copied / "selector/catalog/more.py").write_text("")
    assert version(copied) != before


def test_what_does_not_read_tests_is_no_part_of_it(copied: Path) -> None:
    before = version(copied)
    (copied / "selector/triage/more.py").write_text("")
    assert version(copied) == before
