"""The difference of two texts is their changed definitions, and nothing for what does not run."""

from __future__ import annotations

import pytest

from selector.change.python_text import PythonText
from selector.change.symbols import Difference, bound_names, is_private
from selector.change.symbols import compare as compare_texts
from selector.source import parse_module

BASE = '''"""Module."""
import math

LIMIT = 3

def plain(x):
    """Doc."""
    return x + 1  # note

@decorate
def wrapped(x):
    def inner(y):
        return y
    return inner(x)

class Box(Base):
    """A box."""
    size = 1

    def get(self):
        return self.size

    def put(self, x):
        self.size = x
'''


def compare(base: str, head: str) -> Difference | None:
    return compare_texts(PythonText(base), PythonText(head))


def changed(old: str, new: str) -> Difference:
    assert old in BASE
    difference = compare(BASE, BASE.replace(old, new))
    assert difference is not None
    return difference


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# note", "# another note"),
        ('"""Doc."""', '"""Better."""'),
        ('"""Module."""\n', ""),
        ("x + 1", "(x\n        + 1)"),
        ('    """A box."""\n', ""),
        ("\n\n@decorate", "\n\n\n\n@decorate"),
    ],
)
def test_comments_docstrings_and_formatting_are_no_difference(old: str, new: str) -> None:
    assert changed(old, new).is_empty


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("x + 1", "x + 2", ("plain",)),
        ("@decorate\n", "@other\n", ("wrapped",)),
        ("return y\n", "return -y\n", ("wrapped.inner",)),
        ("return self.size", "return 0", ("Box.get",)),
        ("size = 1", "size = 2", ("Box",)),
        ("Box(Base)", "Box(Other)", ("Box",)),
        ("def plain(x):", "def plain(x: int):", ("plain",)),
        ("    def put(self, x):\n        self.size = x\n", "", ("Box.put",)),
        ("def plain(x)", "def renamed(x)", ("plain", "renamed")),
        ("class Box(Base):", "class Crate(Base):", ("Box", "Crate")),
    ],
)
def test_a_changed_definition_is_named_and_not_those_around_it(old: str, new: str, symbols: tuple[str, ...]) -> None:
    assert changed(old, new) == Difference(symbols, module_level=False)


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("LIMIT = 3", "LIMIT = 4", ("LIMIT",)),
        ("import math", "import cmath", ()),
        ("LIMIT = 3\n", "LIMIT = 3\nplain()\n", ()),
    ],
)
def test_module_level_code_is_seen_and_its_names_with_it(old: str, new: str, symbols: tuple[str, ...]) -> None:
    assert changed(old, new) == Difference(symbols, module_level=True)


def test_a_function_moved_past_a_statement_changes_the_module() -> None:
    assert compare("def f(): pass\nx = 1\n", "x = 1\ndef f(): pass\n") == Difference((), module_level=True)


def test_methods_may_be_moved_within_their_class() -> None:
    first, second = "    def a(self): return 1\n", "    def b(self): return 2\n"
    difference = compare(f"class C:\n{first}{second}", f"class C:\n{second}{first}")
    assert difference is not None
    assert difference.is_empty


def test_one_of_two_definitions_of_a_name_counts() -> None:
    base = "if A:\n    def f(): return 1\nelse:\n    def f(): return 2\n"
    assert compare(base, base.replace("return 2", "return 3")) == Difference(("f",), module_level=False)


def test_documentation_attached_by_a_call_is_a_docstring() -> None:
    base = 'add_docstr(torch.sum, r"""Sums.""".format(**common))\n'
    difference = compare(base, base.replace("Sums.", "Adds up."))
    assert difference is not None
    assert difference.is_empty


def test_new_and_removed_files_are_all_their_definitions() -> None:
    assert compare("", "class A:\n    def m(self): pass\ndef f(): pass\nX = 1\n") == Difference(("A", "X", "f"), True)


@pytest.mark.parametrize("text", ["def f(:", "x" + ".a" * 20_000, "\0"])
def test_text_that_does_not_parse_cannot_be_compared(text: str) -> None:
    assert compare(text, "x = 1") is None
    assert compare("x = 1", text) is None


def test_bound_names_are_those_of_assignments() -> None:
    module = parse_module("a, (b, c) = f()\nd: int = 1\ne += 1\ng.h = 1\nimport i\n")
    assert module is not None
    assert [bound_names(statement) for statement in module.body] == [("a", "b", "c"), ("d",), ("e",), ("g",), ()]


def test_privacy_is_that_of_the_last_part() -> None:
    assert is_private("_f") and is_private("C._m")  # noqa: PT018 - one claim
    assert not is_private("_C.m") and not is_private("C.__init__")  # noqa: PT018 - one claim
