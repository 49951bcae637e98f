"""The functions of two trees of Python, counted by their definitions.

A function is a `def` outside every other function, a method as well; lambdas and functions inside functions are parts
of the one around them. Definitions of one name in one file (overloads, the branches of an `if`) count each. A moved
file is one that went and one that came. Docstrings are left out of every comparison.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selector.change.symbols import Definition, without_docstring
from selector.change.text_changes import Ignoring, shape
from selector.source import parse_module
from selector.trees import SourceTree

#: By file and qualified name, for each definition its digest, and the one without annotations.
Functions = Mapping[tuple[str, str], list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """Definitions in the old tree, those that came and went, and names whose definitions differ, with annotations and
    without."""

    all: int
    added: int
    removed: int
    modified: int
    without_annotations: int


def count_functions(old: SourceTree, new: SourceTree) -> FunctionCounts:
    """Reads every Python file of both trees, which takes minutes for torch."""
    before, after = functions_of(old), functions_of(new)
    both = before.keys() & after.keys()
    return FunctionCounts(
        sum(map(len, before.values())),
        sum(max(0, len(found) - len(before.get(name, ()))) for name, found in after.items()),
        sum(max(0, len(found) - len(after.get(name, ()))) for name, found in before.items()),
        sum([whole for whole, _ in before[name]] != [whole for whole, _ in after[name]] for name in both),
        sum([bare for _, bare in before[name]] != [bare for _, bare in after[name]] for name in both),
    )


def functions_of(tree: SourceTree) -> Functions:
    """All functions of a tree; a file that does not parse has none."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for path in tree.paths():
        module = parse_module(tree.read(path) or "") if path.endswith(".py") else None
        for name, function in _below(module, "") if module is not None else ():
            whole = hash(shape(function, Ignoring.ANNOTATIONS)), hash(ast.dump(function))
            found.setdefault((path, name), []).append((whole[1], whole[0]))
    return found


def _below(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _below(child, f"{prefix}{child.name}.")
        elif isinstance(child, Definition):
            _drop_docstrings(child)
            yield prefix + child.name, child
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _below(child, prefix)


def _drop_docstrings(function: ast.AST) -> None:
    for node in ast.walk(function):
        if isinstance(node, Definition):
            node.body = without_docstring(node.body) or [ast.Pass()]
