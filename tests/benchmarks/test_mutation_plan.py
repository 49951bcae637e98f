"""Mutants are spread over areas, kinds and files, and the same for the same input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from selector.known import FunctionId
from tests.benchmarks.mutation_plan import Mutant, document, from_document, installed_alike, plan

FUNCTION = """
@marked
def {0}(x, y):
    if x == 1:
        note(x, y)
    return x + 2
"""


def sources() -> dict[str, bytes]:
    """Three areas, with two files of three functions each."""
    folders = ("torch/fx/", "torch/optim/", "torch/masked/")
    text = "".join(FUNCTION.format(name) for name in ("one", "two", "three"))
    return {f"{folder}{file}.py": text.encode() for folder in folders for file in ("a", "b")}


def executing(functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
    """Tests execute all functions but the third of each file."""
    return {one: [] if one.name == "three" else ["test/test_x.py::T::test"] for one in functions}


def drawn(count: int, seed: str = "seed") -> list[Mutant]:
    return plan(sources(), executing, count, seed)


def test_areas_take_turns_and_so_do_kinds_and_files() -> None:
    mutants = drawn(6)
    assert [mutant.area for mutant in mutants] == ["fx", "masked", "optim"] * 2
    assert len({mutant.site.path for mutant in mutants}) == 6
    assert max(Counter(mutant.site.kind for mutant in mutants).values()) == 1


def test_a_function_is_mutated_once_and_one_in_ten_is_executed_by_nothing() -> None:
    mutants = drawn(100)
    functions = [(mutant.site.path, mutant.site.function) for mutant in mutants]
    assert len(set(functions)) == len(functions) == 12 + 1
    assert [number for number, mutant in enumerate(mutants, 1) if not mutant.executed] == [10]


def test_the_seed_alone_decides() -> None:
    assert drawn(9) == drawn(9)
    assert drawn(9) != drawn(9, "another")
    assert drawn(4) == drawn(9)[:4]


def test_mutants_are_the_same_after_they_were_kept() -> None:
    mutants = drawn(9)
    assert from_document(document(mutants)) == mutants  # type: ignore[arg-type] # plain values, as JSON gives them
    assert len({mutant.name for mutant in mutants}) == 9


def test_only_files_that_are_installed_as_they_stand_are_mutated(tmp_path: Path) -> None:
    for root, texts in (("tree", ("x = 1\n", "y = 1\n", "z = 1\n")), ("system", ("x = 1\n", "y = 2\n"))):
        folder = tmp_path / root / "torch/fx"
        folder.mkdir(parents=True)
        for name, text in zip("abc", texts, strict=False):
            (folder / f"{name}.py").write_text(text)
    found = installed_alike(tmp_path / "tree", lambda path: tmp_path / "system" / path)
    assert found == {"torch/fx/a.py": b"x = 1\n"}
