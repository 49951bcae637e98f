"""A git repository for tests that need real diffs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.selector.upstream import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    folder = tmp_path / "upstream"
    folder.mkdir()
    return Repository(folder)
