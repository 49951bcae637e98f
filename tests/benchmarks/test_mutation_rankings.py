"""Everybody ranks the chosen files for a mutant, on a tree of three small test files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from selector.known import FunctionId
from selector.trees import DirectoryTree, blob_id_of
from tests.benchmarks.mutation_plan import Mutant
from tests.benchmarks.mutation_rankings import BM25, COLD, FUSED, MAPPED, TD, LaidTree, Rankings
from tests.benchmarks.mutation_sites import Kind, sites
from tests.benchmarks.test_target_determination import tree

SOURCE = b"def spread(x):\n    return x + 1\n"
TESTS = {
    "test/test_grid.py": "from torch.grid import spread\n\n\ndef test_spread():\n    assert spread(1) == 2\n",
    "test/test_list.py": "def test_sort():\n    assert sorted([2, 1]) == [1, 2]\n",
    "test/test_text.py": "def test_upper():\n    assert 'a'.upper() == 'A'\n",
}


class Recorded:
    """A map in which one test of another file executes `spread`, and one file while it is collected."""

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        return {
            one: ["test/test_text.py::test_upper", "test/test_list.py"] for one in functions if one.name == "spread"
        }

    def recorded_files(self) -> Collection[str]:
        return list(TESTS)


def small_tree(root: Path) -> Path:
    """A tree with target determination, one source file and three test files."""
    for path, text in {**TESTS, "torch/grid.py": SOURCE.decode()}.items():
        (tree_path := root / path).parent.mkdir(parents=True, exist_ok=True)
        tree_path.write_text(text)
    return tree(root)


def mutant() -> Mutant:
    (site,) = (site for site in sites("torch/grid.py", SOURCE) if site.kind is Kind.OPERATOR)
    return Mutant("grid", site, executed=True)


def test_every_ranking_orders_all_files_and_the_map_gives_the_tiers(tmp_path: Path) -> None:
    rankings = Rankings(small_tree(tmp_path), list(TESTS), Recorded(), None)
    chosen = rankings.of(mutant(), SOURCE)
    assert set(chosen.orders) == {COLD, MAPPED, TD, BM25, FUSED}
    assert all(sorted(order) == sorted(TESTS) for order in chosen.orders.values())
    assert chosen.orders[COLD][0] == chosen.orders[BM25][0] == "test/test_grid.py"
    assert chosen.first == ["test/test_list.py", "test/test_text.py::test_upper"]
    assert chosen.closure == {"test/test_list.py", "test/test_text.py"}
    assert chosen.symbols == ["torch/grid.py: spread"]
    assert rankings.of(mutant(), SOURCE) == chosen


def test_without_a_map_there_are_no_tiers(tmp_path: Path) -> None:
    chosen = Rankings(small_tree(tmp_path), list(TESTS), None, None).of(mutant(), SOURCE)
    assert MAPPED not in chosen.orders
    assert not chosen.first


def test_one_file_of_a_laid_tree_is_another(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "b.py").write_text("b = 1\n")
    laid = LaidTree(DirectoryTree(tmp_path), "b.py", b"b = 2\n")
    assert laid.paths() == ["a.py", "b.py"]
    assert [laid.read(path) for path in laid.paths()] == ["a = 1\n", "b = 2\n"]
    assert [file.text for file in laid.read_all(["b.py", "a.py"])] == ["b = 2\n", "a = 1\n"]
    assert laid.blob_id("b.py") == blob_id_of(b"b = 2\n")
    assert laid.blob_id("a.py") == blob_id_of(b"a = 1\n")
