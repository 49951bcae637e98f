"""Where a test file is and runs."""

from __future__ import annotations

from pathlib import Path

from workers.runner.types import RunnerTree


def test_only_files_inside_the_checkout_are_located(tmp_path: Path) -> None:
    inside, outside = tmp_path / "upstream/test/test_a.py", tmp_path / "b.py"
    inside.parent.mkdir(parents=True)
    inside.touch()
    outside.touch()
    (inside.parent / "link.py").symlink_to(outside)
    tree = RunnerTree(tmp_path / "upstream")
    assert tree.locate("test/test_a.py") == inside.resolve()
    for file in ("test", "test/none.py", "../b.py", str(outside), "test/link.py", ""):
        assert tree.locate(file) is None


def test_a_file_never_runs_in_the_root_of_an_upstream_checkout(tmp_path: Path) -> None:
    """There the `torch` source folder would be imported in place of the package."""
    root = tmp_path.resolve()
    tree = RunnerTree(root)
    assert tree.working_directory(root / "test/nn/test_a.py") == root / "test"
    assert tree.working_directory(root / "functorch/test_a.py") == root / "functorch"
