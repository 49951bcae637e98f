"""The content of a repository, from git and from memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.devgithub import Commit, GitSource, MemorySource
from relay.devgithub.comparisons import changed_files, three_dot_diff
from relay.devgithub.sources import blob_sha
from tests.relay.devgithub.repositories import commit, git, repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path / "upstream")


def test_a_commit_is_read_whole(folder: Path) -> None:
    """Also a message with empty lines and every separator that git itself uses."""
    base = commit(folder, "Base", a="1\n")
    head = commit(folder, "Subject: \x01 and more\n\nBody\n\n  indented | text")
    found = GitSource(folder).commit("main")
    assert found is not None
    assert (found.sha, found.parents) == (head, (base,))
    assert found.message == "Subject: \x01 and more\n\nBody\n\n  indented | text"
    assert (found.author, found.email) == ("Ada Author", "ada@example.org")
    assert found.at.tzinfo is not None
    assert found.tree == git(folder, "rev-parse", "HEAD^{tree}")


def test_commits_between_come_oldest_first(folder: Path) -> None:
    """A control character in a message, which git separates entries by elsewhere, ends none of them."""
    base = commit(folder, "Base")
    first, second = commit(folder, "First \x01 of two\n\nBody"), commit(folder, "Second")
    source = GitSource(folder)
    assert [each.sha for each in source.between(base, "main")] == [first, second]
    assert source.between("main", base) == []


def test_a_file_is_read_at_its_revision(folder: Path) -> None:
    base = commit(folder, "Base", sub__a="old\n")
    commit(folder, "Head", sub__a="new\n", sub__b="b")
    source = GitSource(folder)
    assert source.read(base, "sub/a.txt") == b"old\n"
    assert source.read("main", "sub/a.txt") == b"new\n"
    assert source.read(base, "sub/b.txt") is None
    assert source.read("main", "sub") is None
    assert blob_sha(b"new\n") == git(folder, "rev-parse", "HEAD:sub/a.txt")


@pytest.mark.parametrize("revision", ["", "nope", "--help", "--output=/tmp/x", "a\0b", "HEAD:../../x", "main:"])
def test_what_names_no_commit_is_nothing(folder: Path, revision: str, tmp_path: Path) -> None:
    """No revision is an option to git, and none leaves the repository."""
    commit(folder, "Base", a="1\n")
    (tmp_path / "secret").write_text("x")
    source = GitSource(folder)
    assert source.commit(revision) is None
    assert source.read(revision, "a.txt") is None
    assert source.read("main", "../secret") is None
    assert source.diff(revision, "main") is None
    assert source.between(revision, "main") == []
    assert source.merge_base(revision, "main") is None


def test_a_difference_is_from_where_the_branches_parted(folder: Path) -> None:
    commit(folder, "Base", kept="1\n", renamed="a\nb\nc\nd\n", gone="x\n")
    git(folder, "switch", "--quiet", "-c", "topic")
    commit(folder, "Topic", kept="1\n2\n", renamed=None, moved="a\nb\nc\nd\n", gone=None, made="y\n")
    git(folder, "switch", "--quiet", "main")
    commit(folder, "Main goes on", other="z\n")
    source = GitSource(folder)
    files = {each.path: each for each in changed_files(source, "main", "topic")}
    assert {path: each.status for path, each in files.items()} == {
        "kept.txt": "modified",
        "moved.txt": "renamed",
        "gone.txt": "removed",
        "made.txt": "added",
    }
    assert files["moved.txt"].previous == "renamed.txt"
    assert (files["kept.txt"].additions, files["kept.txt"].deletions) == (1, 0)
    assert files["kept.txt"].patch == "@@ -1,1 +1,2 @@\n 1\n+2"
    assert three_dot_diff(source, "main", "nope") is None


def test_memory_knows_what_it_was_told() -> None:
    first, second = "1" * 40, "2" * 40
    source = MemorySource(files={"a": "text"}, refs={"main": second}, diffs={(first, second): "told"})
    source.add(Commit(first))
    source.add(Commit(second, parents=(first,)))
    assert source.commit("main") == source.commits[second]
    assert source.read("main", "a") == source.read("never-heard-of", "a") == b"text"
    assert source.read("3" * 40, "a") is None
    assert source.read("main", "b") is None
    assert source.diff(first, "main") == "told"
    assert source.diff("main", first) == ""
    assert source.diff(first, "nope") is None
    assert [each.sha for each in source.between(first, "main")] == [second]
    assert not changed_files(source, first, second)
