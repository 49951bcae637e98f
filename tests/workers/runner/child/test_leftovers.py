"""What tests leave is gone before the next test file, however it was left."""

from __future__ import annotations

import os
from pathlib import Path

from workers.runner.child.leftovers import Leftovers


def test_files_folders_and_links_are_removed_and_what_was_there_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    folder = tmp_path / "private"
    (folder / "before").mkdir(parents=True)
    leftovers = Leftovers([folder, tmp_path / "absent"])
    inner = folder / "closed" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (folder / "link").symlink_to(outside, target_is_directory=True)
    (folder / "closed" / "link").symlink_to(outside, target_is_directory=True)
    inner.chmod(0)
    inner.parent.chmod(0)
    assert leftovers.remove()
    assert os.listdir(folder) == ["before"]
    assert os.listdir(outside) == ["kept"]
    assert outside.stat().st_mode & 0o777 == 0o755


def test_what_cannot_be_removed_is_told(tmp_path: Path) -> None:
    leftovers = Leftovers([tmp_path])
    folder, names = os.getcwd(), 1050
    os.chdir(tmp_path)
    try:
        # Deeper than there is stack to go down.
        for _ in range(names):
            os.mkdir("deeper")
            os.chdir("deeper")
    finally:
        os.chdir(folder)
    try:
        assert not leftovers.remove()
    finally:
        os.system(f"rm -rf {tmp_path / 'deeper'}")  # noqa: S605 - the only one that goes down so far
