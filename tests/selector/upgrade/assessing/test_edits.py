"""The same edit is told in the same words wherever it is made."""

from __future__ import annotations

from selector.upgrade.assessing.edits import Edits
from selector.upgrade.types import Evidence, Place, TestChange
from tests.selector.upstream import MemoryTree


def told(before: str, after: str) -> str:
    edits = Edits(MemoryTree({"a.py": before}), MemoryTree({"a.py": after}))
    places = Place("a.py", 1, before.count("\n") + 1), Place("a.py", 1, after.count("\n") + 1)
    return edits.told(Evidence(TestChange.BODY, "x", "", *places))


def test_words_that_differ_are_told() -> None:
    assert told("x = a.cuda()\nreturn x", "x = a.cpu()\nreturn x") == "`cuda` to `cpu`"


def test_layout_is_no_edit() -> None:
    assert told("f(a, b)", "f( a,b )") == ""


def test_many_edits_are_nothing_that_tests_share() -> None:
    before = "\n".join(f"same{number} = {number}" for number in range(9))
    assert told(before, before.replace("= ", "= new")) == ""


def test_a_file_as_a_whole_is_not_looked_into() -> None:
    edits = Edits(MemoryTree({"a.py": "x"}), MemoryTree({"a.py": "y"}))
    assert edits.told(Evidence(TestChange.BODY, "x", "", Place("a.py"), Place("a.py"))) == ""
