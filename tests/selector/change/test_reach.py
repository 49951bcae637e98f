"""A change of a private helper reaches the public names that tests use."""

from __future__ import annotations

from selector.change.python_text import PythonText, PythonTexts
from selector.change.reach import Exports, reached_names
from tests.selector.upstream import MemoryTree

MODULE = """
def _unravel_index(indices, shape): return shape
def unravel_index(indices, shape): return _unravel_index(indices, shape)
def caller_of_public(x): return unravel_index(x, x)
def _one(x): return x
def _two(x): return _one(x)
def three(x): return _two(x)
def four(x): return three(x)
public_alias = _one
class Linear(Base):
    def forward(self, x): return self._pack(x)
    def _pack(self, x): return x
    def __repr__(self): return ""
def outer(x):
    def closure(y): return y
    return closure(x)
"""


def reached(*symbols: str, init: str = "") -> dict[str, str]:
    tree = MemoryTree({"torch/__init__.py": init})
    found = reached_names("torch/functional.py", PythonText(MODULE), symbols, Exports(PythonTexts(tree)))
    return {item.name: item.through for item in found}


def test_a_private_helper_reaches_its_public_caller() -> None:
    found = reached("_unravel_index")
    assert found == {"_unravel_index": "_unravel_index", "unravel_index": "_unravel_index <- unravel_index"}


def test_callers_are_followed_two_levels_and_past_private_ones_only() -> None:
    assert reached("_one").keys() == {"_one", "_two", "three", "public_alias"}
    assert reached("unravel_index").keys() == {"unravel_index", "caller_of_public"}


def test_a_method_is_spoken_of_by_its_class_and_its_name() -> None:
    assert reached("Linear.forward").keys() == {"Linear", "forward"}
    assert reached("Linear._pack").keys() == {"Linear", "_pack", "forward"}
    assert reached("Linear.__repr__").keys() == {"Linear"}


def test_a_closure_is_spoken_of_by_the_function_around_it() -> None:
    assert reached("outer.closure").keys() == {"outer"}


def test_a_name_exported_under_another_one_is_reached() -> None:
    found = reached("four", init="from .functional import four as fourth, three\n")
    assert found == {"four": "four", "fourth": "four <- fourth in torch/__init__.py"}


def test_a_module_that_does_not_parse_reaches_its_own_names() -> None:
    exports = Exports(PythonTexts(MemoryTree({"torch/__init__.py": "def f(:"})))
    assert [item.name for item in reached_names("torch/x.py", PythonText("def f(:"), ["f"], exports)] == ["f"]


def test_nothing_changed_reaches_nothing() -> None:
    assert reached() == {}
