"""Which words show which files: every parent is made for all users, and nothing is shown twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.runner.sandbox.mounts import Mounts, outermost, require_open


def test_parents_are_made_once_and_for_all_users() -> None:
    mounts = Mounts()
    mounts.read_only(Path("/root/a/b"))
    mounts.read_only(Path("/root/a/c"))
    folders = [("--perms", "0755", "--dir", folder) for folder in ("/root", "/root/a")]
    binds = [("--ro-bind", path, path) for path in ("/root/a/b", "/root/a/c")]
    assert mounts.words == [word for step in (*folders, *binds) for word in step]


def test_nothing_is_made_inside_what_is_shown() -> None:
    """It is read-only, and has the folder already."""
    mounts = Mounts()
    mounts.read_only(Path("/data"))
    mounts.file(Path("/data/inner/name"), 7)
    assert "--dir" not in mounts.words[mounts.words.index("--ro-bind") :]


def test_a_folder_to_write_in_may_lie_in_one_that_is_shown() -> None:
    mounts = Mounts()
    mounts.read_only(Path("/data"))
    mounts.writable(Path("/data/build/output"))
    assert mounts.words[-3:] == ["--bind", "/data/build/output", "/data/build/output"]
    assert mounts.words.count("--dir") == 0


def test_what_lies_in_another_folder_is_seen_with_it() -> None:
    paths = [Path("/data/checkout/.venv"), Path("/usr/lib/python3"), Path("/data/checkout"), Path("/data/checkout2")]
    assert outermost(paths) == [Path("/data/checkout"), Path("/data/checkout2")]


@pytest.mark.parametrize(("write", "mode", "letters"), [(False, 0o755, "rX"), (True, 0o777, "rwX")])
def test_a_folder_closed_to_others_is_named(tmp_path: Path, write: bool, mode: int, letters: str) -> None:
    """The program's user is nobody on the machine, so the start would fail without a word."""
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(mode & ~0o001)
    with pytest.raises(PermissionError, match=rf"chmod o\+{letters}.*closed"):
        require_open([closed], to_all=True, write=write)
    require_open([closed], to_all=False, write=write)
    closed.chmod(mode)
    require_open([closed], to_all=True, write=write)


def test_a_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        require_open([tmp_path / "absent"], to_all=False)
