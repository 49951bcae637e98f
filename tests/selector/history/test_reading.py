"""A repository's past is told where it can be told, and its absence is a sentence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from selector.history import read_history
from tests.selector.upstream import Repository


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def base(repository: Repository) -> str:
    repository.commit({"torch/a.py": "1\n", "test/test_a.py": "1\n"})
    return repository.commit({"torch/a.py": "2\n", "test/test_a.py": "2\n"})


def partners(file: Path, repo: Path, base: str, notes: list[str]) -> set[str] | None:
    with read_history(file, repo, base, notes.append) as history:
        return None if history is None else set(history.changed_with(["torch/a.py"]).get("torch/a.py", {}))


def test_what_changed_together_before_the_base_is_told(
    repository: Repository, base: str, tmp_path: Path, notes: list[str]
) -> None:
    file = tmp_path / "no folder yet" / "history"
    assert partners(file, repository.path, base, notes) == {"test/test_a.py"}
    later = repository.commit({"torch/a.py": "3\n", "test/test_late.py": "3\n"})
    assert partners(file, repository.path, base, notes) == {"test/test_a.py"}
    assert partners(file, repository.path, later, notes) == {"test/test_a.py", "test/test_late.py"}
    assert partners(file, repository.path, base, notes) == {"test/test_a.py"}, "later commits do not exist for it"
    assert notes == []


def cloned(repository: Repository, folder: Path, *options: str) -> Path:
    repository.git("config", "uploadpack.allowFilter", "true")
    command = ["git", "clone", "--quiet", "--no-checkout", *options, f"file://{repository.path}", str(folder)]
    subprocess.run(command, check=True)
    return folder


def test_a_clone_without_a_past_is_said(repository: Repository, base: str, tmp_path: Path, notes: list[str]) -> None:
    for name, option in (("shallow", "--depth=1"), ("without trees", "--filter=tree:0")):
        clone = cloned(repository, tmp_path / name, option)
        assert partners(tmp_path / "history", clone, base, notes) is None
        assert name in notes[-1]
    assert len(notes) == 2


def test_a_clone_without_blobs_has_its_past(
    repository: Repository, base: str, tmp_path: Path, notes: list[str]
) -> None:
    clone = cloned(repository, tmp_path / "clone", "--filter=blob:none")
    assert partners(tmp_path / "history", clone, base, notes) == {"test/test_a.py"}
    assert notes == []


@pytest.mark.parametrize("content", [b"", b"no database at all" * 500, b"SQLite format 3\0" + b"\xff" * 9_000])
def test_a_store_that_is_none_is_filled_anew(
    repository: Repository, base: str, tmp_path: Path, notes: list[str], content: bytes
) -> None:
    file = tmp_path / "history"
    file.write_bytes(content)
    assert partners(file, repository.path, base, notes) == {"test/test_a.py"}
    assert notes == []


def test_what_cannot_be_read_is_said_and_no_error(
    repository: Repository, base: str, tmp_path: Path, notes: list[str]
) -> None:
    assert partners(tmp_path / "history", repository.path, "0" * 40, notes) is None
    assert partners(tmp_path / "history", tmp_path / "no repository", base, notes) is None
    (tmp_path / "a file").write_text("")
    assert partners(tmp_path / "a file" / "history", repository.path, base, notes) is None
    assert ["co-change is not known" in note for note in notes] == [True] * 3
