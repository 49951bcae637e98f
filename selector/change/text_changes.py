"""Narrow ways in which two pieces of Python can differ: by annotations alone, by text alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum

_EXCERPT = 160


class Ignoring(Enum):
    """What a shape leaves out."""

    ANNOTATIONS = "annotations"
    STRINGS = "strings"


def shape(node: ast.stmt, ignoring: Ignoring) -> str:
    """A text that is equal for statements that differ in nothing but what is left out.

    Without annotations, a declaration with a value inside a function is an assignment and one without is gone; outside,
    where a dataclass makes fields of them, only the type is. Without strings, every text is the same, and that between
    the braces of an f-string is gone.
    """
    parts: list[str] = []
    in_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    _write(node, ignoring, in_function, parts)
    return " ".join(parts)


def _write(node: object, ignoring: Ignoring, in_function: bool, parts: list[str]) -> None:
    if isinstance(node, list):
        parts.append("[")
        for item in node:
            if not _is_gone(item, ignoring, in_function):
                _write(item, ignoring, in_function, parts)
        parts.append("]")
    elif not isinstance(node, ast.AST):
        parts.append(repr(node))
    elif ignoring is Ignoring.STRINGS and isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts.append("text")
    elif ignoring is Ignoring.STRINGS and isinstance(node, ast.JoinedStr):
        parts.append("(JoinedStr")
        _write([part for part in node.values if not isinstance(part, ast.Constant)], ignoring, in_function, parts)
        parts.append(")")
    elif ignoring is Ignoring.ANNOTATIONS and in_function and isinstance(node, ast.AnnAssign):
        parts.append("(Assign")
        _write([node.target], ignoring, in_function, parts)
        _write(node.value, ignoring, in_function, parts)
        parts += ["None", ")"]  # where an assignment has its type comment
    else:
        parts.append(f"({type(node).__name__}")
        for name in node._fields:
            if not (ignoring is Ignoring.ANNOTATIONS and name in ("annotation", "returns")):
                _write(getattr(node, name, None), ignoring, in_function, parts)
        parts.append(")")


def _is_gone(item: object, ignoring: Ignoring, in_function: bool) -> bool:
    declared = ignoring is Ignoring.ANNOTATIONS and in_function
    return declared and isinstance(item, ast.AnnAssign) and item.value is None


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
