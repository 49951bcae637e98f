"""A folder of tests that a link leads to is read under the link's name."""

from __future__ import annotations

from pathlib import Path

from selector.trees import DirectoryTree, GitTree
from selector.upgrade.comparing.following import FollowedTree
from tests.selector.upstream import MemoryTree, Repository


def test_a_folder_has_the_name_of_the_link_in_a_folder_and_in_a_revision(repository: Repository) -> None:
    folder = repository.path / "functorch" / "test"
    folder.mkdir(parents=True)
    (folder / "test_vmap.py").write_text("x = 1\n")
    (repository.path / "test").mkdir()
    (repository.path / "test" / "functorch").symlink_to("../functorch/test")
    (repository.path / "test" / "outside").symlink_to("/etc")
    (repository.path / "test" / "further").symlink_to("../../elsewhere")
    revision = repository.commit_all()
    with GitTree(repository.path, revision) as revised:
        for tree in (FollowedTree(DirectoryTree(repository.path)), FollowedTree(revised)):
            assert list(tree.paths()) == ["test/functorch/test_vmap.py"]
            assert tree.read("test/functorch/test_vmap.py") == "x = 1\n"
            assert tree.read("functorch/test/test_vmap.py") is None
            (file, missing) = tree.read_all(["test/functorch/test_vmap.py", "test/test_missing.py"])
            assert (file.path, file.blob_id, file.text) == (
                "test/functorch/test_vmap.py",
                tree.blob_id("test/functorch/test_vmap.py"),
                "x = 1\n",
            )
            assert missing.text is None


def test_links_that_lead_nowhere_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_a.py").write_text("")
    (tmp_path / "test" / "gone").symlink_to("../nowhere")
    (tmp_path / "test" / "again").symlink_to("../test")
    assert list(FollowedTree(DirectoryTree(tmp_path)).paths()) == ["test/test_a.py"]


def test_a_tree_that_knows_no_links_and_no_ids_is_read_as_it_is() -> None:
    tree = FollowedTree(MemoryTree({"test/test_a.py": "a"}))
    assert tree.blob_id("test/test_a.py") is not None
    assert [file.text for file in tree.read_all(["test/test_a.py", "test/test_b.py"])] == ["a", None]
