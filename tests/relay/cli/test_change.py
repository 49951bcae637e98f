"""The change of a checkout: two commits, or a diff that becomes a tree; the user's checkout stays as it was."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from relay.cli.change import NoChange, read_change
from selector.trees import GitTree


def git(repo: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    return subprocess.run(["git", "-C", repo, *identity, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits; the second changes a line."""
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for text in ("a = 1\n", "a = 2\n"):
        (root / "module.py").write_text(text)
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", text.strip())
    return root


def test_two_commits(repo: Path) -> None:
    """The head is HEAD when none is named; a folder inside the checkout will do."""
    (repo / "inner").mkdir()
    change = read_change(repo / "inner", "HEAD~1", None, None)
    assert change.repo == repo
    assert "+a = 2" in change.diff
    assert (change.base, change.head) == tuple(git(repo, "rev-parse", "HEAD~1", "HEAD").split())


def test_a_bare_repository_will_do(repo: Path, tmp_path: Path) -> None:
    """A mirror has no work tree; git objects are all that is read."""
    bare = tmp_path / "mirror.git"
    git(repo, "clone", "-q", "--bare", str(repo), str(bare))
    assert read_change(bare, "HEAD~1", None, None).diff == read_change(repo, "HEAD~1", None, None).diff


def test_diff_becomes_a_tree_and_the_checkout_stays(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The diff applied to the base, from a file and from stdin; index and files of the user are untouched."""
    diff = git(repo, "diff", "HEAD~1", "HEAD")
    (tmp_path / "d.diff").write_text(diff)
    (repo / "module.py").write_text("edited\n")
    before = git(repo, "status", "--porcelain")
    from_file = read_change(repo, "HEAD~1", None, str(tmp_path / "d.diff"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(diff.encode())))
    from_stdin = read_change(repo, "HEAD~1", None, "-")
    assert from_file == from_stdin
    with GitTree(repo, from_file.head) as tree:
        assert tree.read("module.py") == "a = 2\n"
    assert git(repo, "status", "--porcelain") == before


def test_empty_diff_changes_nothing(repo: Path, tmp_path: Path) -> None:
    """`git diff` of nothing is no error."""
    (tmp_path / "d.diff").write_text("")
    change = read_change(repo, None, None, str(tmp_path / "d.diff"))
    assert change.head == git(repo, "rev-parse", "HEAD^{tree}").strip()


def test_diff_that_does_not_fit(repo: Path, tmp_path: Path) -> None:
    """The base it was tried on, git's reason, and what to give instead."""
    (tmp_path / "d.diff").write_text(git(repo, "diff", "HEAD~1", "HEAD"))
    with pytest.raises(NoChange, match="does not apply to HEAD: patch failed") as failure:
        read_change(repo, None, None, str(tmp_path / "d.diff"))
    assert "--base" in failure.value.hint


@pytest.mark.parametrize(
    ("base", "diff", "words"),
    [
        ("nope", None, "has no revision nope"),
        ("--all", None, "has no revision --all"),
        ("HEAD", "absent.diff", "absent.diff cannot be read"),
    ],
)
def test_what_is_not_there(repo: Path, base: str, diff: str | None, words: str) -> None:
    """Names what is missing; a revision is never an option of git."""
    with pytest.raises(NoChange, match=words):
        read_change(repo, base, None, diff)


@pytest.mark.parametrize("name", ["", "absent"])
def test_folder_that_is_no_checkout(tmp_path: Path, name: str) -> None:
    """A plain folder and a missing one."""
    with pytest.raises(NoChange, match="not a git checkout"):
        read_change(tmp_path / name, "HEAD", None, None)


@pytest.mark.parametrize("options", [(None, None, None), (None, "HEAD", None), (None, "HEAD", "-")])
def test_options_that_do_not_go_together(repo: Path, options: tuple[str | None, str | None, str | None]) -> None:
    """A usage error, before git is asked."""
    with pytest.raises(typer.BadParameter):
        read_change(repo, *options)


def test_git_that_is_not_installed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence and how to get it."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoChange, match="git is not installed"):
        read_change(repo, "HEAD~1", None, None)
