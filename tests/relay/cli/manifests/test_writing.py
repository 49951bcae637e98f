"""A file is replaced in one step, keeps its mode, and what can not be written is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.cli.manifests.writing import NotWritten, write_file


def test_a_file_keeps_its_mode_and_its_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("old")
    path.chmod(0o640)
    write_file(path, "a: é\r\n")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == ("a: é\r\n".encode(), 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_can_be_read_by_others(tmp_path: Path) -> None:
    write_file(tmp_path / "new.yaml", "a: 1\n")
    assert (tmp_path / "new.yaml").stat().st_mode & 0o777 == 0o644


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.yaml").write_text("old")
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    write_file(tmp_path / "link.yaml", "new")
    assert (tmp_path / "link.yaml").is_symlink()
    assert (tmp_path / "real.yaml").read_text() == "new"


@pytest.mark.parametrize("name", ["missing/m.yaml", "folder"])
def test_what_can_not_be_written_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(NotWritten, match="can not be written"):
        write_file(tmp_path / name, "x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
