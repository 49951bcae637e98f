"""Digests of values: equal for equal ones, whatever file and line they stand on; and the definitions a value names.

A definition is named `path:name` and not looked into; what it says is another's to compare.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from selector.upgrade.operators.evaluation.values import (
    Applied,
    Bound,
    Class,
    Dtype,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Super,
    Unread,
    Value,
)

#: Arguments of calls that are words for people.
_REASONS = frozenset({"unittest.skip", "unittest.case.skip"})
_DEPTH = 40


@dataclass(slots=True)
class Fingerprint:
    """`text` is what is digested; `names` the definitions of the tree on the way."""

    names: dict[str, None] = field(default_factory=dict)

    def of(self, value: Value, depth: int = 0) -> str:  # noqa: PLR0911 (one for each kind of value)
        """A text that is equal for equal values."""
        if depth > _DEPTH:
            return "..."
        match value:
            case Dtype():
                return value.name
            case External():
                return self._outside(value)
            case Function():
                return self._function(value, depth)
            case Class():
                return self._named(f"{value.frame.module.path}:{value.node.name}")
            case Module():
                return value.dotted
            case Unread():
                return self._expression(value.node, value.frame, depth)
            case Applied():
                return self._applied(value, depth)
            case Instance():
                # an entry is compared field by field; where it mentions itself, it says nothing more
                return "entry" if is_entry(value) else f"{value.cls.node.name}({self._pairs(value.fields, depth)})"
            case Bound():
                return f"{self.of(value.subject, depth + 1)}.{_method(value)}"
            case Super():
                return "super()"
            case _:
                return self._plain(value, depth)

    def _plain(self, value: Value, depth: int) -> str:
        if isinstance(value, Mapping):
            return f"{{{self._pairs(value, depth)}}}"
        if isinstance(value, set | frozenset):
            return f"{{{', '.join(sorted(self.of(item, depth + 1) for item in value))}}}"
        if isinstance(value, list | tuple):
            # a list of entries means each of them; which, is no part of what a sample is
            items = (self.of(item, depth + 1) for item in value if not is_entry(item))
            return f"({', '.join(items)})"
        return repr(value)

    def _pairs(self, pairs: Mapping[str, Value], depth: int) -> str:
        return ", ".join(f"{name}={self.of(value, depth + 1)}" for name, value in sorted(pairs.items(), key=_key))

    def _applied(self, value: Applied, depth: int) -> str:
        function = self.of(value.function, depth + 1)
        if function in _REASONS:
            return f"{function}()"
        items = [self.of(item, depth + 1) for item in value.arguments]
        return f"{function}({', '.join([*items, self._pairs(value.keywords, depth)])})"

    def _function(self, function: Function, depth: int) -> str:
        if function.frame.around is None and function.owner is None:
            return self._named(f"{function.frame.module.path}:{function.node.name}")
        return self._expression(function.node, function.frame, depth)

    def _expression(self, node: ast.AST, frame: Frame, depth: int) -> str:
        """The text of an expression, and what the names in it stand for when a function around it says so."""
        try:
            said = [ast.dump(node)]
        except RecursionError:
            return "an expression that nests too deep"
        own = _bound_inside(node)
        for name in dict.fromkeys(_loaded(node)):
            holder = None if name in own else frame.holder(name)
            if holder is frame.module.names:
                self._follow(holder[name], frame.module, name)
            elif holder is not None and holder[name] is not node:
                said.append(f"{name}={self.of(holder[name], depth + 8)}")
        return " ".join(said)

    def _follow(self, value: Value, module: Module, name: str) -> None:
        match value:
            case Function() | Class():
                self._named(f"{value.frame.module.path}:{value.node.name}")
            case Module():
                return
            case External():
                self._outside(value)
            case _:
                self._named(f"{module.path}:{name}")

    def _outside(self, value: External) -> str:
        """A part of the test library that was not followed is a definition all the same."""
        if value.name.startswith("torch.testing."):
            self.names[value.name] = None
        return value.name

    def _named(self, name: str) -> str:
        self.names[name] = None
        return name.partition(":")[2]


def digest(text: str) -> str:
    """Short, and equal for equal texts."""
    return hashlib.blake2b(text.encode("utf-8", errors="surrogatepass"), digest_size=12).hexdigest()


def _loaded(node: ast.AST) -> Iterator[str]:
    """The names an expression or definition uses."""
    return (child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load))


def _bound_inside(node: ast.AST) -> frozenset[str]:
    """The names that a function binds itself: its arguments and what it assigns."""
    stored = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
    return frozenset(stored).union(child.arg for child in ast.walk(node) if isinstance(child, ast.arg))


def fingerprint(values: Iterable[Value]) -> tuple[str, tuple[str, ...]]:
    """The digest of values in order, and the definitions they name, sorted."""
    found = Fingerprint()
    text = "\n".join(map(found.of, values))
    return digest(text), tuple(sorted(found.names))


def is_entry(value: Value) -> bool:
    """Whether it is an entry of a database of operators."""
    return isinstance(value, Instance) and value.cls.is_a("OpInfo")


def _method(value: Bound) -> str:
    return value.function if isinstance(value.function, str) else value.function.node.name


def _key(pair: tuple[Value, Value]) -> str:
    return str(pair[0])
