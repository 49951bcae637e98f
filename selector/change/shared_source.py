"""Statements whose source two modules share, so that only the others have to be compared as syntax.

Most of a large file is left alone by a change, and comparing text is a hundred times cheaper than comparing trees.
Equal source at equal indentation is the same statement; the reverse does not hold and is not used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from selector.change.python_text import PythonText

_Key = tuple[str, int, str]  # class around it, column, text
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def shared_source(base: PythonText, head: PythonText) -> tuple[Mapping[ast.stmt, str], Mapping[ast.stmt, str]]:
    """For each side the statements of the module, and the definitions in its classes, whose source both sides have;
    with a digest that is equal for equal source and is no dump of a statement."""
    before, after = dict(_keys(base)), dict(_keys(head))
    common = set(before.values()) & set(after.values())
    return _digests(before, common), _digests(after, common)


def _digests(keys: Mapping[ast.stmt, _Key], common: set[_Key]) -> Mapping[ast.stmt, str]:
    return {statement: f"source {key[1]} {key[2]}" for statement, key in keys.items() if key in common}


def _keys(text: PythonText) -> Iterator[tuple[ast.stmt, _Key]]:
    lines = text.lines
    for statement in text.module.body if text.module is not None else ():
        yield statement, _key("", statement, lines)
        if isinstance(statement, ast.ClassDef):
            for inner in statement.body:
                if isinstance(inner, Definition):
                    yield inner, _key(statement.name, inner, lines)


def _key(owner: str, statement: ast.stmt, lines: Sequence[str]) -> _Key:
    return owner, statement.col_offset, "\n".join(lines[first_line(statement) - 1 : statement.end_lineno])


def first_line(statement: ast.stmt) -> int:
    """The line a statement starts at, its decorators included."""
    if not isinstance(statement, Definition):
        return statement.lineno
    return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
