"""Tests that executed a changed function are must-run, and the other tests of their files are kept."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Status
from selector.executed import record
from selector.known import Known
from selector.ownership import link_tests
from selector.ownership.executed import executed_links
from tests.selector.upstream import MemoryTree

TREE = MemoryTree(
    {
        "torch/a.py": "def f(): pass\ndef g(): pass\n",
        "test/test_a.py": "class TestA(TestCase):\n    def test_x(self): pass\n    def test_y(self): pass\n",
        "test/test_b.py": "def test_z(): pass\n",
        "test/test_many.py": "".join(f"def test_{number}(): pass\n" for number in range(300)),
    }
)
CATALOG = build_catalog(TREE)
X = "test/test_a.py::TestA::test_x"
MAP = record(
    TREE,
    {
        "test/test_a.py": {"": ["torch/a.py:<module>"], X: ["torch/a.py:f"]},
        "test/test_b.py": {"": ["torch/a.py:f"]},
        "test/test_many.py": {f"test/test_many.py::test_{number}": ["torch/a.py:g"] for number in range(299)},
    },
)


def kept(*symbols: str, module_level: bool = False) -> dict[str, bool]:
    """The linked tests, and whether any link makes them must-run."""
    changed = FileChange(
        "torch/a.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, symbols, module_level=module_level
    )
    found: dict[str, bool] = {}
    for item in executed_links(ChangeSet((changed,)), CATALOG, MAP):
        found[str(item.test.test)] = found.get(str(item.test.test), False) or item.must_run
    return found


def test_who_executed_it_is_must_run_and_the_rest_of_the_file_is_kept() -> None:
    assert kept("f") == {X: True, "test/test_a.py::TestA::test_y": False, "test/test_b.py::test_z": False}


def test_what_everybody_executes_is_kept_and_makes_none_must_run() -> None:
    found = kept("g")
    assert len(found) == 300
    assert not any(found.values())


def test_the_statements_of_a_module_belong_to_all_files_that_import_it() -> None:
    assert kept(module_level=True).keys() == {X, "test/test_a.py::TestA::test_y"}


def test_nothing_is_said_of_a_new_function() -> None:
    assert kept("new") == {}


def test_stage_2_asks_the_map() -> None:
    changed = FileChange("torch/a.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, ("f",))
    owned = link_tests(ChangeSet((changed,)), CATALOG, known=Known(executed=MAP))
    assert [str(one.test) for one in owned.candidates if one.must_run] == [X]
