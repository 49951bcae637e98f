"""Kept trees: made once, whole or not at all, bounded, and never removed under a user."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from workers.upstream.work_trees import WorkTrees


class Maker:
    """Writes a tree and counts how often."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, tree: Path) -> None:
        assert not tree.exists()
        self.made.append(tree.name)
        tree.mkdir()
        (tree / "file").write_text(tree.name)


def trees_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


@pytest.fixture
def trees(tmp_path: Path) -> WorkTrees:
    return WorkTrees(tmp_path / "trees", most=2)


def test_a_tree_is_made_once(trees: WorkTrees) -> None:
    make = Maker()
    for _ in range(3):
        with trees.holding("a", make) as tree:
            assert (tree / "file").read_text() == "a"
    assert make.made == ["a"]


def test_several_at_once_make_one(trees: WorkTrees) -> None:
    make, seen = Maker(), []

    def use() -> None:
        with trees.holding("a", make) as tree:
            seen.append((tree / "file").read_text())

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["a"] * 8
    assert make.made == ["a"]


def test_the_least_recently_used_go_first(trees: WorkTrees) -> None:
    make = Maker()
    for key, second in (("a", 2), ("b", 1)):
        with trees.holding(key, make):
            pass
        os.utime(trees.folder / f"{key}.done", (second, second))
    with trees.holding("c", make):
        assert trees_in(trees.folder) == ["a", "c"]
    with trees.holding("b", make):
        pass
    assert make.made == ["a", "b", "c", "b"]


def test_a_tree_in_use_is_not_removed(trees: WorkTrees) -> None:
    make = Maker()
    with trees.holding("a", make) as held:
        os.utime(trees.folder / "a.done", (1, 1))
        for key in ("b", "c", "d"):
            with trees.holding(key, make):
                pass
        assert (held / "file").read_text() == "a"
        assert len(trees_in(trees.folder)) == 3


@pytest.mark.parametrize("left", [lambda tree: tree.mkdir(), lambda tree: None], ids=["half", "nothing"])
def test_what_a_dead_maker_left_is_no_tree(trees: WorkTrees, left: Callable[[Path], None]) -> None:
    make = Maker()

    def dies(tree: Path) -> None:
        left(tree)
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"), trees.holding("a", dies):
        pass
    with trees.holding("a", make) as tree:
        assert (tree / "file").read_text() == "a"
