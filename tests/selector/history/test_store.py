"""The cache of commits agrees with git, grows by what is new, and can be rebuilt."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from selector.history import Commit, CommitStore, read_commits
from selector.trees import TreeError
from tests.selector.upstream import Repository


def seen(store: CommitStore, path: str, until: str) -> list[str]:
    position = store.position(until)
    assert position is not None
    return [commit.id for commit in store.touching(path, position, 0, 2**40)]


def test_commits_are_read_with_both_paths_of_a_rename(repository: Repository) -> None:
    first = repository.commit({"torch/a.py": "text\n" * 9, "with space.py": "b\n"})
    second = repository.commit({"torch/a.py": None, "torch/b.py": "text\n" * 9})
    commits = list(read_commits(repository.path, second))
    assert [commit.id for commit in commits] == [first, second]
    assert commits[0].files == ("torch/a.py", "with space.py")
    assert commits[1].files == ("torch/a.py", "torch/b.py")
    assert commits[0].seconds <= commits[1].seconds


def test_a_store_is_filled_once_and_then_by_what_is_new(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit({"a.py": "1\n"})
    second = repository.commit({"a.py": "2\n"})
    with CommitStore(tmp_path / "history") as store:
        assert store.fill(repository.path, first) == 1
        assert store.fill(repository.path, first) == 0
        assert store.fill(repository.path, second) == 1
    with CommitStore(tmp_path / "history") as again:
        assert again.fill(repository.path, second) == 0
        assert seen(again, "a.py", second) == [first, second]
        assert seen(again, "a.py", first) == [first]


def test_a_merge_of_two_branches_is_read_parents_first(repository: Repository, tmp_path: Path) -> None:
    base = repository.commit({"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    side = repository.commit({"b.py": "1\n"})
    repository.git("checkout", "--quiet", "main")
    main = repository.commit({"c.py": "1\n"})
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    with CommitStore(tmp_path / "history") as store:
        assert store.fill(repository.path, main) == 2
        assert store.fill(repository.path, merge) == 2
        assert seen(store, "b.py", merge) == [side]
        assert seen(store, "a.py", base) == [base]


def test_an_unknown_revision_leaves_the_store_as_it_was(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit({"a.py": "1\n"})
    with CommitStore(tmp_path / "history") as store:
        store.fill(repository.path, first)
        with pytest.raises(TreeError):
            store.fill(repository.path, "0" * 40)
        assert seen(store, "a.py", first) == [first]
        assert store.position("0" * 40) is None


def test_a_reading_that_breaks_off_adds_nothing(tmp_path: Path) -> None:
    def commits() -> Iterator[Commit]:
        yield Commit("a" * 40, 1, ("a.py",))
        raise TreeError("git went away")

    with CommitStore(tmp_path / "history") as store:
        with pytest.raises(TreeError):
            store.add(commits(), "b" * 40)
        assert store.position("a" * 40) is None


def test_a_file_of_another_version_is_filled_anew(repository: Repository, tmp_path: Path) -> None:
    first = repository.commit({"a.py": "1\n"})
    with CommitStore(tmp_path / "history") as store:
        store.fill(repository.path, first)
    with closing(sqlite3.connect(tmp_path / "history")) as database:
        database.execute("PRAGMA user_version = 99")
    with CommitStore(tmp_path / "history") as store:
        assert store.fill(repository.path, first) == 1
