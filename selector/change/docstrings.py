"""Which docstrings of a Python file differ between two texts of it, though the code around them may not.

Some tests execute the examples in docstrings or check that there are any, so a docstring is not a comment. Only its
text counts, not how it is indented; that of a definition which came or went comes and goes with the code.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selector.change.facts import Effect, Fact, FactKind
from selector.change.python_text import PythonText
from selector.change.symbols import Definition, documented_by

_BLOCKS = (ast.If, ast.Try, ast.With, ast.ExceptHandler)


@dataclass(slots=True)
class _Documented:
    """The docstrings of all definitions of one name, empty for none, and where the first of them is defined."""

    line: int
    docstrings: list[str]


def docstring_facts(path: str, base: PythonText, head: PythonText) -> Iterator[Fact]:
    """One fact for each definition of both texts, and for the module, whose documentation differs."""
    if base.module is None or head.module is None:
        return
    before, after = _all_of(base.module.body), _all_of(head.module.body)
    for symbol, documented in after.items():
        old = before.get(symbol)
        if old is not None and old.docstrings != documented.docstrings:
            evidence = "the docstring" if symbol else "the docstring of the module"
            yield Fact(path, FactKind.DOCSTRING, symbol, "", Effect.DOCUMENTATION, documented.line, evidence)


def _all_of(body: Sequence[ast.stmt]) -> Mapping[str, _Documented]:
    found = {"": _Documented(1, [_docstring(body)])}
    for symbol, line, text in _below(body, ""):
        found.setdefault(symbol, _Documented(line, [])).docstrings.append(text)
    return found


def _below(body: Sequence[ast.AST], prefix: str) -> Iterator[tuple[str, int, str]]:
    """Symbol, line and documentation of what is defined, or documented by a call, in these statements."""
    for node in body:
        if isinstance(node, Definition):
            yield prefix + node.name, node.lineno, _docstring(node.body)
            yield from _below(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, _BLOCKS):
            yield from _below(list(ast.iter_child_nodes(node)), prefix)
        elif isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
            subject, documentation = documented_by(node.value)
            if subject is not None:
                yield ast.unparse(subject)[:200], node.lineno, " ".join(map(_said, documentation))


def _docstring(body: Sequence[ast.stmt]) -> str:
    first = body[0] if body else None
    return _said(first.value) if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else ""


def _said(node: ast.expr) -> str:
    """A text without its indentation, anything else as its digest."""
    if isinstance(node, ast.Constant):
        return inspect.cleandoc(node.value) if isinstance(node.value, str) else ""
    return ast.dump(node)
