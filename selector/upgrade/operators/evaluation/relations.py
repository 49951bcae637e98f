"""Sums, differences and comparisons of values, and which values can be keys or stand in a set."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator

from selector.upgrade.operators.evaluation.values import (
    Applied,
    CannotTellError,
    Dtype,
    External,
    Value,
    equal,
    is_plain,
    same,
)

#: Items of one list or letters of one text that are built; more is no database of anyone's.
SIZE_LIMIT = 100_000
_OF_SETS = {ast.Sub: operator.sub, ast.BitOr: operator.or_, ast.BitAnd: operator.and_}


def hashable(value: Value) -> Value:
    """A key of a dict. Raises `CannotTellError` for what is not known well enough to be one."""
    if isinstance(value, str | int | float | Dtype | External | tuple) or value is None:
        return value
    raise CannotTellError("a key is not known")


def as_set(items: Iterator[Value]) -> set[Value]:
    """Raises `CannotTellError` for items of which equality is not known."""
    found = list(items)
    if not all(map(is_plain, found)):
        raise CannotTellError("not all of a set is known")
    return set(found)


def operation(how: ast.operator, one: Value, other: Value) -> Value:
    """Sums of sequences and texts, differences and unions of sets. Raises `CannotTellError` for others."""
    if isinstance(one, set) and isinstance(other, set) and type(how) in _OF_SETS:
        return _OF_SETS[type(how)](one, other)
    alike = any(isinstance(one, kind) and isinstance(other, kind) for kind in (tuple, list, str))
    if isinstance(how, ast.Add) and alike and len(one) + len(other) < SIZE_LIMIT:
        return operator.add(one, other)
    raise CannotTellError("it is of something not known")


def compared(how: ast.cmpop, one: Value, other: Value) -> bool:
    """Raises `CannotTellError` where the text does not tell."""
    negated = isinstance(how, ast.IsNot | ast.NotEq | ast.NotIn)
    match how:
        case ast.Is() | ast.IsNot():
            known = same(one, other)
        case ast.Eq() | ast.NotEq():
            known = equal(one, other)
        case ast.In() | ast.NotIn():
            known = _is_in(one, other)
        case ast.Gt() | ast.GtE() if isinstance(one, Applied) and isinstance(one.function, External):
            # of a library's version; the tests of a release run with libraries as new as it is
            known = True if one.function.name.endswith("Version") and isinstance(other, str) else None
        case _:
            known = None
    if known is None:
        raise CannotTellError("it depends on what is not known")
    return known is not negated


def _is_in(value: Value, container: Value) -> bool | None:
    if not isinstance(container, dict | list | tuple | set):
        return None
    answers = [equal(value, item) for item in container]
    return True if True in answers else None if None in answers else False
