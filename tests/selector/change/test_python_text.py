"""A text is parsed once however many rules ask for its tree, and no rule changes it."""

from __future__ import annotations

import ast

import pytest

from selector import source
from selector.change import analyse, python_text
from selector.change.python_text import PythonText, PythonTexts
from selector.change.symbols import compare
from tests.selector.change.case_format import read_cases
from tests.selector.upstream import MemoryTree

DOCUMENTED = '''"""M."""
class A:
    """D."""
    def f(self):
        """D."""
        def g(): return 1
        add_docstr(f, "D")
'''


def test_each_side_of_each_file_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counted(text: str) -> ast.Module | None:
        parsed.append(text)
        return source.parse_module(text)

    monkeypatch.setattr(python_text, "parse_module", counted)
    for case in read_cases():
        parsed.clear()
        analyse(case.diff(), MemoryTree(case.base()), MemoryTree(case.head()))
        sides = [*case.base().items(), *case.head().items()]
        for text in set(parsed) - {""}:
            assert parsed.count(text) <= sum(text == side.replace("\ufeff", "") for _, side in sides), case.claim


def test_comparing_leaves_the_tree_as_it_was() -> None:
    text = DOCUMENTED
    base, head = PythonText(text), PythonText(text.replace("return 1", "return 2"))
    assert compare(base, head) is not None
    assert base.module is not None
    assert ast.dump(base.module) == ast.dump(ast.parse(text))


def test_what_packages_export_is_read_once_and_other_files_are_not_kept() -> None:
    texts = PythonTexts(MemoryTree({"torch/__init__.py": "", "torch/a.py": ""}))
    assert texts.read("torch/__init__.py") is texts.read("torch/__init__.py")
    assert texts.read("torch/a.py") is not texts.read("torch/a.py")
    assert texts.read("torch/b.py") is None
