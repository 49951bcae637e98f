"""Two trees without git give the change set that their diff gives, and renames are followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from selector.change import Status, analyse, analyse_trees
from selector.change.diff import TEXT_CAP
from selector.change.tree_diff import compare_trees
from selector.trees import DirectoryTree
from tests.selector.change.case_format import Case, read_cases
from tests.selector.upstream import MemoryTree

#: Cases of two trees. A file that moved to another name with an edit is two files to whoever has no history.
TREES = [
    case
    for case in read_cases()
    if not case.raw and all(file.path == file.old_path or file.before == file.after for file in case.files)
]
BODY = "".join(f"line {n}\n" for n in range(20))


@pytest.mark.parametrize("case", TREES, ids=lambda case: case.origin)
def test_the_trees_of_a_case_give_the_facts_of_its_diff(case: Case) -> None:
    base, head = MemoryTree(case.base()), MemoryTree(case.head())
    by_diff, by_trees = analyse(case.diff(), base, head), analyse_trees(base, head)
    assert sorted(by_trees.facts) == sorted(by_diff.facts)
    assert {f.path: (f.status, f.noop, f.doubt) for f in by_trees.files} == {
        f.path: (f.status, f.noop, f.doubt) for f in by_diff.files
    }


def test_equal_trees_have_no_difference() -> None:
    assert compare_trees(MemoryTree({"a": "x"}), MemoryTree({"a": "x"})) == ()


def test_a_file_that_moved_unchanged_is_a_rename() -> None:
    (delta,) = compare_trees(MemoryTree({"torch/a.py": "x = 1\n"}), MemoryTree({"torch/b.py": "x = 1\n"}))
    assert (delta.path, delta.old_path, delta.status, delta.text) == ("torch/b.py", "torch/a.py", Status.RENAMED, "")


def test_a_file_that_moved_to_another_folder_with_an_edit_is_a_rename() -> None:
    (delta,) = compare_trees(MemoryTree({"torch/a/f.py": BODY}), MemoryTree({"torch/b/f.py": BODY + "new\n"}))
    assert (delta.old_path, delta.status, delta.text) == ("torch/a/f.py", Status.RENAMED, "+new")


def test_a_file_of_the_same_name_with_other_lines_is_another_file() -> None:
    deltas = compare_trees(
        MemoryTree({"torch/a/f.py": BODY}), MemoryTree({"torch/b/f.py": BODY.replace("line", "row")})
    )
    assert [(delta.path, delta.status) for delta in deltas] == [
        ("torch/a/f.py", Status.DELETED),
        ("torch/b/f.py", Status.ADDED),
    ]


def test_one_file_is_the_origin_of_one_other_only() -> None:
    deltas = compare_trees(MemoryTree({"a/f.py": BODY}), MemoryTree({"b/f.py": BODY, "c/f.py": BODY}))
    assert sorted(delta.status for delta in deltas) == [Status.ADDED, Status.RENAMED]


def test_a_file_that_is_no_text_counts_as_changed(tmp_path: Path) -> None:
    for side in ("old", "new"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.so").write_bytes(b"\0")
    (delta,) = compare_trees(DirectoryTree(tmp_path / "old"), DirectoryTree(tmp_path / "new"))
    assert (delta.path, delta.status) == ("a.so", Status.BINARY)


def test_the_kept_text_has_a_limit() -> None:
    (delta,) = compare_trees(MemoryTree({"a.py": ""}), MemoryTree({"a.py": "x = 1\n" * 20_000}))
    assert len(delta.text) <= TEXT_CAP
