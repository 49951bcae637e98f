"""One of the two trees of an upgrade with what is known of it, and what its text tells about generated tests.

Nothing is imported or collected: which classes are made for devices and which lists a test runs over is read off the
text, and what it does not tell is said to be unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from selector.catalog import Catalog, CatalogTest
from selector.change.symbols import bound_names
from selector.source import parse_module
from selector.trees import SourceTree
from selector.types import BaseTest
from selector.upgrade.operators.table import OperatorTable

_MAKES_FOR_DEVICES = re.compile(r"\binstantiate_device_type_tests\(\s*(\w+)\s*,((?:[^()]+|\([^()]*\))*)\)")
_ONLY_FOR = re.compile(r"only_for\s*=\s*([^=]*?)(?:,\s*\w+\s*=|$)", re.DOTALL)
_TEXT = re.compile(r"[\"'](\w+)[\"']")
_DEVICE_OUTSIDE = "privateuse1"
_HOPS = 4


@dataclass(frozen=True)
class Side:
    """A tree, the catalog of its tests and its databases of operators."""

    tree: SourceTree
    catalog: Catalog
    operators: OperatorTable
    _generic: dict[str, frozenset[str]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _assigned: dict[str, Mapping[str, frozenset[str]]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    @cached_property
    def tests(self) -> Mapping[BaseTest, CatalogTest]:
        """Every test that the text names."""
        return {entry.test: entry for entry in self.catalog}

    def is_generic(self, test: BaseTest, device: str) -> bool:
        """Whether the test's class is made once for every device, one out of the tree included."""
        if (known := self._generic.get(test.file)) is None:
            known = self._generic[test.file] = _generic_classes(self.tree.read(test.file) or "", device)
        return test.cls in known

    def operators_of(self, entry: CatalogTest) -> tuple[str, ...] | None:
        """The operators that generate a test, by their names in the database; `None` when nothing generates it from
        operators, or from a list that the text does not tell. A list made of others counts as all of them, for what is
        filtered out of them is not evaluated."""
        lists = self._lists_of(entry)
        if not lists:
            return None
        return tuple(dict.fromkeys(name for known in lists for name in self.operators.lists[known]))

    def _lists_of(self, entry: CatalogTest) -> list[str]:
        """The database's own lists behind the names in `@ops(...)`, through assignments of the test's file."""
        names = {name for mark in entry.marks if mark.name == "ops" for name in mark.names}
        for _ in range(_HOPS):
            if found := sorted(names & self.operators.lists.keys()):
                return found
            if not names:
                break
            assigned = self._assignments(entry.origin.file)
            names = {used for name in names for used in assigned.get(name, ())}
        return []

    def _assignments(self, file: str) -> Mapping[str, frozenset[str]]:
        if (known := self._assigned.get(file)) is None:
            known = self._assigned[file] = _names_assigned(self.tree.read(file) or "")
        return known


def _generic_classes(text: str, device: str) -> frozenset[str]:
    calls = _MAKES_FOR_DEVICES.findall(text)
    return frozenset(cls for cls, arguments in calls if _takes(arguments, text, device))


def _takes(arguments: str, text: str, device: str) -> bool:
    """Whether `only_for` lets the device in. What is neither a literal nor the name of one may hold anything."""
    only = _ONLY_FOR.search(arguments)
    if only is None:
        return True
    named = re.search(rf"^{only[1].strip()} *=(.+)", text, re.MULTILINE) if only[1].strip().isidentifier() else None
    words = _TEXT.findall(named[1] if named is not None else only[1])
    return not words or not {device, _DEVICE_OUTSIDE}.isdisjoint(words)


def _names_assigned(text: str) -> Mapping[str, frozenset[str]]:
    """By the name that a statement of the module binds, the names in what it is bound to."""
    module = parse_module(text)
    found: dict[str, frozenset[str]] = {}
    for statement in module.body if module is not None else ():
        value = getattr(statement, "value", None)
        if isinstance(value, ast.expr):
            used = frozenset(node.id for node in ast.walk(value) if isinstance(node, ast.Name))
            found.update(dict.fromkeys(bound_names(statement), used))
    return found
