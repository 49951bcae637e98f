"""Trees read what is theirs, and nothing else."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from selector.trees import FILE_CAP, DirectoryTree, GitTree, IdentifiedTree, TreeError, as_text, blob_id_of, git_diff
from tests.selector.upstream import MemoryTree, Repository

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


def test_many_files_are_read_in_the_order_asked_for_each_as_by_itself(repository: Repository) -> None:
    """More than a batch, the same content twice, files that are none, and every file asked for twice."""
    files: dict[str, str | bytes | None] = {f"{number:03}.py": f"text of {number // 2}\n" for number in range(90)}
    rev = repository.commit({**files, "bin": b"\0", "big": b"x" * (FILE_CAP + 7)})
    wanted = ["gone.py", "big", *files, "bin", *files, "../secret"]
    with GitTree(repository.path, rev) as tree:
        for read in (tree.read_all(wanted), DirectoryTree(repository.path).read_all(wanted)):
            assert [(file.path, file.text) for file in read] == [(path, files.get(path)) for path in wanted]
        assert list(tree.read_all([])) == []


def test_a_reading_that_is_broken_off_leaves_the_tree_in_step(repository: Repository) -> None:
    files: dict[str, str | bytes | None] = {f"{number:03}.py": f"text of {number}\n" for number in range(90)}
    with GitTree(repository.path, repository.commit(files)) as tree:
        reading = tree.read_all(list(files))
        assert next(reading)[::2] == ("000.py", "text of 0\n")
        assert tree.read("050.py") == "text of 50\n"
        assert next(reading)[::2] == ("001.py", "text of 1\n")


def test_a_blob_that_the_clone_lacks_reads_as_none_among_others(repository: Repository) -> None:
    rev = repository.commit({"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"})
    lost = repository.git("rev-parse", f"{rev}:b.py")
    (repository.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    with GitTree(repository.path, rev) as tree:
        assert [file.text for file in tree.read_all(["a.py", "b.py", "c.py"])] == ["a\n", None, "c\n"]


def test_a_folder_and_a_revision_know_the_same_content_by_the_same_id(repository: Repository) -> None:
    files: dict[str, str | bytes | None] = {"a.py": "a\n", "bin": b"\0\1", "empty": "", "crlf.py": "a\r\n"}
    with GitTree(repository.path, repository.commit(files)) as tree:
        folder = DirectoryTree(repository.path)
        for path in files:
            git_id = repository.git("rev-parse", f"HEAD:{path}")
            assert tree.blob_id(path) == folder.blob_id(path) == git_id
            assert [file.blob_id for it in (tree, folder) for file in it.read_all([path])] == [git_id, git_id]
        assert (tree.blob_id("gone.py"), folder.blob_id("gone.py"), folder.blob_id("../x")) == (None, None, None)
    assert blob_id_of(b"a\n") == repository.git("rev-parse", "HEAD:a.py")


def test_a_folder_tells_no_id_of_what_it_cannot_read_whole(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * (FILE_CAP + 1))
    assert DirectoryTree(tmp_path).blob_id("big") is None


def test_trees_of_files_are_identified_and_others_need_not_be(repository: Repository) -> None:
    with GitTree(repository.path, repository.commit({"a": "a"})) as tree:
        assert isinstance(tree, IdentifiedTree)
    assert isinstance(DirectoryTree(repository.path), IdentifiedTree)
    assert not isinstance(MemoryTree({}), IdentifiedTree)


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


def test_a_link_named_like_an_entry_adds_no_file(repository: Repository, tmp_path: Path) -> None:
    blob = "0" * 40
    (repository.path / f"x 100644 blob {blob}\tfake.py").symlink_to(tmp_path)
    (repository.path / f"100644 blob {blob}\tfake.py").symlink_to(tmp_path)
    with GitTree(repository.path, repository.commit({"real.py": "1\n", f"100644 blob {blob}\tname.py": ""})) as tree:
        assert list(tree.paths()) == [f"100644 blob {blob}\tname.py", "real.py"]


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
