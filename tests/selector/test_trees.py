"""Trees read what is theirs, and nothing else."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from selector.trees import FILE_CAP, DirectoryTree, GitTree, TreeError, as_text, git_diff
from tests.selector.upstream import Repository

ODD_NAMES = ("with space.py", 'quo"te.py', "tab\there.py", "ünïcode.py", "line\nbreak.py", " b/ b.py")


def test_a_revision_is_read_with_any_file_name(repository: Repository) -> None:
    files: dict[str, str | bytes | None] = {name: f"text of {number}\n" for number, name in enumerate(ODD_NAMES)}
    with GitTree(repository.path, repository.commit(files)) as tree:
        assert list(tree.paths()) == sorted(ODD_NAMES)
        assert [tree.read(name) for name in ODD_NAMES] == list(files.values())


def test_a_revision_keeps_its_content_when_the_work_tree_moves_on(repository: Repository) -> None:
    first = repository.commit({"a.py": "old\n"})
    repository.commit({"a.py": "new\n", "b.py": "b\n"})
    with GitTree(repository.path, first) as tree:
        assert tree.read("a.py") == "old\n"
        assert tree.read("b.py") is None


def test_what_is_no_text_reads_as_none_and_reading_goes_on(repository: Repository) -> None:
    rev = repository.commit({"bin": b"\0\1", "latin": b"caf\xe9", "big": b"x" * (FILE_CAP + 7), "ok": "fine\n"})
    with GitTree(repository.path, rev) as tree:
        assert [tree.read(name) for name in ("bin", "latin", "big", "ok")] == [None, None, None, "fine\n"]


def test_a_byte_order_mark_is_not_text() -> None:
    assert as_text(b"\xef\xbb\xbfimport torch") == "import torch"


def test_links_are_no_files_of_a_tree(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (repository.path / "link.py").symlink_to(tmp_path / "secret")
    rev = repository.commit({"real.py": "1\n"})
    with GitTree(repository.path, rev) as git_tree:
        folder = DirectoryTree(repository.path)
        for tree in (git_tree, folder):
            assert list(tree.paths()) == ["real.py"]
            assert tree.read("link.py") is None


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "folder/../../secret", "no\0name", "linked/secret"])
def test_a_folder_is_never_left(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "linked").symlink_to(tmp_path)
    assert DirectoryTree(root).read(path) is None


def test_an_unknown_revision_is_a_sentence(repository: Repository) -> None:
    repository.commit({"a": "a"})
    with pytest.raises(TreeError, match="git ls-tree failed"):
        GitTree(repository.path, "--output=x")
    with pytest.raises(TreeError, match="git diff failed"):
        git_diff(repository.path, "HEAD", "no-such-revision")


def test_a_forgotten_tree_leaves_no_process(repository: Repository) -> None:
    tree = GitTree(repository.path, repository.commit({"a": "a"}))
    assert tree.read("a") == "a"
    assert tree._batch is not None
    process = tree._batch
    del tree
    gc.collect()
    assert process.returncode is not None


def test_the_users_git_configuration_does_not_change_a_diff(repository: Repository) -> None:
    base = repository.commit({"a.txt": "a\n", ".gitattributes": "*.txt diff=evil\n"})
    head = repository.commit({"a.txt": "b\n"})
    plain = git_diff(repository.path, base, head)
    for key, value in (
        ("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("color.ui", "always"), ("diff.external", "false"),
        ("diff.evil.textconv", "false"), ("diff.renames", "false"), ("diff.context", "0"), ("core.abbrev", "4"),
    ):  # fmt: skip
        repository.git("config", key, value)
    assert git_diff(repository.path, base, head) == plain
    assert "-a\n+b\n" in plain
