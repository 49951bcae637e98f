"""The decorators of a test as facts: which databases generate it, for which dtypes, on which devices.

Reads names and strings only; nothing is evaluated, so a list built elsewhere is known by its name alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

#: Of one decorator; upstream's longest literal lists have some hundred entries, which say no more than their start.
_NAMES_CAP = 64
_STRING_CAP = 80


@dataclass(frozen=True, slots=True)
class Mark:
    """One decorator: `ops` of `@ops(unary_ufuncs, dtypes=OpDTypes.none)`, with the identifiers and the short strings
    of its arguments, each once and in source order (`unary_ufuncs`, `OpDTypes`, `none`)."""

    name: str
    names: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoration:
    """All decorators of a function: the identifiers in them, and each as a mark, outermost first."""

    names: frozenset[str]
    marks: tuple[Mark, ...]


UNDECORATED = Decoration(frozenset(), ())


def read_decoration(decorators: Sequence[ast.expr]) -> Decoration:
    """The decorators of a function or method."""
    if not decorators:
        return UNDECORATED
    names: set[str] = set()
    marks = tuple(_mark(decorator, names) for decorator in decorators)
    return Decoration(frozenset(names), marks)


def _mark(decorator: ast.expr, names: set[str]) -> Mark:
    """The mark of one decorator; all its identifiers are added to `names`."""
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    own, _ = _said([target])
    names.update(own)
    name = target.attr if isinstance(target, ast.Attribute) else own[-1] if own else ""
    if not isinstance(decorator, ast.Call):
        return Mark(name)
    said, strings = _said([*decorator.args, *(keyword.value for keyword in decorator.keywords)])
    names.update(said)
    return Mark(name, said[:_NAMES_CAP], strings[:_NAMES_CAP])


def _said(nodes: Sequence[ast.AST]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The identifiers and the short strings of expressions, each once, in source order. Without recursion: an
    expression of a hostile file may be as deep as the parser allows, which is deeper than our stack."""
    names: dict[str, None] = {}
    strings: dict[str, None] = {}
    waiting: list[ast.AST | str] = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            names[node] = None
        elif isinstance(node, ast.Name):
            names[node.id] = None
        elif isinstance(node, ast.Attribute):
            waiting += (node.attr, node.value)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and len(node.value) <= _STRING_CAP:
                strings[node.value] = None
        else:
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
    return tuple(names), tuple(strings)
