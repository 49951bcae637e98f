"""Narrow ways in which two pieces of Python can differ: by annotations alone, by text alone.

Everything works on copies: the syntax trees handed in stay as they are.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator

_EXCERPT = 160


def without_annotations(node: ast.stmt) -> ast.stmt:
    """A copy that declares no types. Inside a function a declaration with a value is an assignment and one without is
    gone; outside, where a dataclass makes fields of them, only the type is."""
    in_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    stripped = _Annotations(in_function).visit(copy.deepcopy(node))
    return stripped if isinstance(stripped, ast.stmt) else ast.Pass()


def without_strings(node: ast.stmt) -> ast.stmt:
    """A copy in which every text is the same, that between the braces of an f-string included."""
    stripped = _Strings().visit(copy.deepcopy(node))
    return stripped if isinstance(stripped, ast.stmt) else ast.Pass()


def changed_text(before: Iterable[ast.stmt], after: Iterable[ast.stmt]) -> str:
    """An excerpt of the first text that only `before` has, else of the first that only `after` has."""
    old, new = _texts(before), _texts(after)
    gone = (text for text in old if text not in new)
    came = (text for text in new if text not in old)
    return next(gone, next(came, "")).strip()[:_EXCERPT]


def _texts(nodes: Iterable[ast.stmt]) -> Counter[str]:
    return Counter(text for node in nodes for text in _strings(node))


def _strings(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value


class _Annotations(ast.NodeTransformer):
    def __init__(self, in_function: bool) -> None:
        self._in_function = in_function

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        self.generic_visit(node)
        if not self._in_function:
            node.annotation = ast.Constant(None)
            return node
        return None if node.value is None else ast.Assign([node.target], node.value)


class _Strings(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """Only the values count, in their order."""
        self.generic_visit(node)
        return ast.JoinedStr([part for part in node.values if not isinstance(part, ast.Constant)])
