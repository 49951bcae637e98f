"""Test files that upstream lists with a changed file are seen with the name of the list."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Status
from selector.ownership.listed import listed_together
from tests.selector.upstream import MemoryTree

LABELS = ".github/labeler.yml"
TREE = {
    LABELS: (
        '"module: x":\n- torch/x/**\n- test/x/**\n"narrow":\n- torch/x/one.py\n- test/x/test_one.py\n'
        '"no tests":\n- torch/**\n- docs/**\n"all":\n- torch/x/**\n- test/**\n'
    ),
    "test/x/test_one.py": "",
    "test/x/test_two.py": "",
    "test/test_labelled.py": '# Owner(s): ["module: x"]\n',
    "test/test_far.py": "",
}
CATALOG = build_catalog(MemoryTree(TREE))


def change(*paths: str, old_path: str | None = None) -> ChangeSet:
    return ChangeSet(tuple(FileChange(path, old_path, Status.MODIFIED, Category.PYTHON_SOURCE) for path in paths))


def test_tests_of_a_list_and_those_with_its_label_are_seen_and_the_narrowest_list_counts() -> None:
    found = listed_together(change("torch/x/one.py"), CATALOG)
    assert set(found) == {"test/x/test_one.py", "test/x/test_two.py", "test/test_labelled.py"}
    assert found["test/x/test_one.py"] == (1.0, f"{LABELS} lists it with torch/x/one.py as narrow")
    assert 0 < found["test/x/test_two.py"][0] < 1
    assert found["test/x/test_two.py"][1].endswith("as module: x")


def test_a_path_before_a_rename_counts() -> None:
    assert listed_together(change("torch/y.py", old_path="torch/x/one.py"), CATALOG)


def test_what_no_list_has_is_nothing() -> None:
    assert listed_together(change("torch/y.py"), CATALOG) == {}
    assert listed_together(change("torch/x/one.py"), build_catalog(MemoryTree({"test/test_a.py": ""}))) == {}


def test_a_list_that_the_change_edits_is_not_believed() -> None:
    assert listed_together(change("torch/x/one.py", LABELS), CATALOG) == {}
