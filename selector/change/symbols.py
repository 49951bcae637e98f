"""Which definitions of a Python file differ between two texts of it.

Definitions are compared by their syntax tree without docstrings, nested definitions and positions. That is exact where
line ranges of hunks are not: comments, formatting and moved functions do not show, and a closure's edit is the
closure's alone. Annotations count as code, because TorchScript compiles them.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from selector.change.python_text import PythonText
from selector.change.shared_source import shared_source
from selector.change.text_changes import Ignoring, shape
from selector.source import last_part

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Node = TypeVar("_Node", bound=ast.AST)
_DEFINITION = "definition "  # no dump of a statement starts like this
#: Lines of one definition or statement in which narrow aspects are looked for.
_LOOKED_INTO = 2_000
_DOCUMENTING_CALLS = frozenset({"add_docstr", "_add_docstr", "add_docstr_all"})


class Aspect(StrEnum):
    """What of a definition differs. The narrow ones hold when nothing else does."""

    ADDED = "added"
    REMOVED = "removed"
    ANNOTATIONS = "annotations"
    DECORATION = "decoration"
    TEXT = "text"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Changed:
    """One changed definition or module-level name; the nodes are without docstrings and nested definitions. `whole` is
    a digest of one that came or went with all that is nested in it, by which it is known elsewhere."""

    symbol: str
    aspect: Aspect
    line: int
    before: tuple[ast.stmt, ...]
    after: tuple[ast.stmt, ...]
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """`symbols`: qualified names of changed, new and removed definitions and of module-level names, sorted.
    `module_level`: a statement outside all definitions changed, or the order of definitions did.
    `changed`: the same symbols with what of them differs; `statements`: those outside definitions that only one side
    has; `reordered`: what both sides have stands in another order."""

    symbols: tuple[str, ...]
    module_level: bool
    changed: tuple[Changed, ...] = field(default=(), compare=False, repr=False)
    statements: tuple[tuple[ast.stmt, ...], tuple[ast.stmt, ...]] = field(default=((), ()), compare=False, repr=False)
    reordered: bool = field(default=False, compare=False)

    @property
    def is_empty(self) -> bool:
        return not self.symbols and not self.module_level


@dataclass(frozen=True, slots=True)
class _Outline:
    """A module taken apart: digests of each definition by qualified name, and of each module-level statement."""

    definitions: Mapping[str, Sequence[str]]
    nodes: Mapping[str, Sequence[Definition]]
    statements: Sequence[tuple[str, tuple[str, ...]]]  # digest, names it binds
    body: Sequence[ast.stmt]  # the nodes of `statements`


def compare(base: PythonText, head: PythonText) -> Difference | None:
    """What differs between two texts of one module; `None` when one of them does not parse.

    An empty text stands for a file that does not exist.
    """
    if base.module is None or head.module is None:
        return None
    shared = shared_source(base, head)
    before, after = _outline(base.module, shared[0]), _outline(head.module, shared[1])
    if before is None or after is None:
        return None
    names = before.definitions.keys() | after.definitions.keys()
    changed = {name for name in names if before.definitions.get(name) != after.definitions.get(name)}
    whole = {name for name in changed if name not in before.definitions or name not in after.definitions}
    symbols = {name for name in changed if not _has_ancestor(name, whole)}
    # a definition that came or went is a symbol; only what stands around it says whether the module changed
    old, new = (
        [entry for entry in side.statements if entry[0].removeprefix(_DEFINITION) not in whole]
        for side in (before, after)
    )
    rebound = _rebound(old, new)
    differing = (_left(before, after), _left(after, before))
    parts = [_definition_change(name, before, after) for name in symbols]
    parts += [_name_change(name, differing) for name in rebound - symbols]
    return Difference(
        tuple(sorted(symbols | rebound)),
        old != new,
        tuple(sorted(parts, key=lambda change: change.symbol)),
        differing,
        _shared(old, new) != _shared(new, old),
    )


def _shared(side: Sequence[tuple[str, tuple[str, ...]]], other: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
    known = {digest for digest, _ in other}
    return [digest for digest, _ in side if digest in known]


def _definition_change(name: str, before: _Outline, after: _Outline) -> Changed:
    old, new = tuple(before.nodes.get(name, ())), tuple(after.nodes.get(name, ()))
    whole = "" if old and new else _whole(name, before if old else after)
    return Changed(name, _aspect(old, new), (new or old)[0].lineno, old, new, whole)


def _whole(name: str, side: _Outline) -> str:
    """A definition with its nested ones under their names inside it."""
    inside = [inner for inner in side.definitions if inner == name or inner.startswith(f"{name}.")]
    return "\n".join(
        f"{inner.removeprefix(name)} {dump}" for inner in sorted(inside) for dump in side.definitions[inner]
    )


def _name_change(name: str, differing: tuple[tuple[ast.stmt, ...], tuple[ast.stmt, ...]]) -> Changed:
    old, new = (tuple(node for node in side if name in bound_names(node)) for side in differing)
    return Changed(name, _aspect(old, new), (new or old)[0].lineno, old, new)


def _left(side: _Outline, other: _Outline) -> tuple[ast.stmt, ...]:
    """Statements of one side that the other does not have, definitions left out."""
    known = Counter(digest for digest, _ in other.statements)
    left: list[ast.stmt] = []
    for (digest, _), node in zip(side.statements, side.body, strict=True):
        known[digest] -= 1
        if known[digest] < 0 and not digest.startswith(_DEFINITION):
            left.append(node)
    return tuple(left)


def _aspect(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> Aspect:
    if not old or not new:
        return Aspect.REMOVED if old else Aspect.ADDED
    if any((node.end_lineno or node.lineno) - node.lineno > _LOOKED_INTO for node in (*old, *new)):
        return Aspect.BODY
    if _shapes(old, Ignoring.ANNOTATIONS) == _shapes(new, Ignoring.ANNOTATIONS):
        return Aspect.ANNOTATIONS
    if _dumps(map(_undecorated, old)) == _dumps(map(_undecorated, new)):
        return Aspect.DECORATION
    if _shapes(old, Ignoring.STRINGS) == _shapes(new, Ignoring.STRINGS):
        return Aspect.TEXT
    return Aspect.BODY


def _shapes(nodes: Sequence[ast.stmt], ignoring: Ignoring) -> list[str]:
    return [shape(node, ignoring) for node in nodes]


def _dumps(nodes: Iterable[ast.stmt]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _undecorated(node: ast.stmt) -> ast.stmt:
    bare = copy.copy(node)
    if isinstance(bare, Definition):
        bare.decorator_list = []
    return bare


def _has_ancestor(name: str, names: Iterable[str]) -> bool:
    parts = name.split(".")
    return any(".".join(parts[:size]) in names for size in range(1, len(parts)))


def _rebound(before: Sequence[tuple[str, tuple[str, ...]]], after: Sequence[tuple[str, tuple[str, ...]]]) -> set[str]:
    """Names bound by statements that only one side has."""
    old, new = Counter(before), Counter(after)
    return {name for _, names in (old - new) + (new - old) for name in names if not name.startswith("__")}


def _outline(module: ast.Module, shared: Mapping[ast.stmt, str]) -> _Outline | None:
    """`shared` are the statements whose source both sides have; they are not looked into."""
    taker = _Taker(shared)
    try:
        body = [_visited(statement, taker, shared) for statement in without_docstring(module.body)]
        statements = [_entry(statement, shared) for statement in body]
    except RecursionError:
        return None
    return _Outline(taker.found, taker.nodes, statements, body)


def _visited(statement: ast.stmt, taker: _Taker, shared: Mapping[ast.stmt, str]) -> ast.stmt:
    if statement not in shared:
        visited = taker.visit(statement)
        return visited if isinstance(visited, ast.stmt) else ast.Pass()
    return ast.Global([statement.name]) if isinstance(statement, Definition) else statement


def _entry(statement: ast.stmt, shared: Mapping[ast.stmt, str]) -> tuple[str, tuple[str, ...]]:
    if isinstance(statement, ast.Global):
        return _DEFINITION + statement.names[0], ()
    return shared.get(statement) or ast.dump(statement), bound_names(statement)


class _Taker(ast.NodeVisitor):
    """Takes definitions out of their parent, innermost first. At module level a placeholder stays, because the order
    of definitions and other statements is what an import executes; inside a class or function none does.

    The tree stays as it is: a visit answers the node without what was taken, the same one where nothing was."""

    def __init__(self, shared: Mapping[ast.stmt, str]) -> None:
        self._shared = shared
        self.found: dict[str, list[str]] = {}
        self.nodes: dict[str, list[Definition]] = {}
        self._path: list[str] = []

    def _take(self, node: Definition) -> ast.stmt | None:
        if node in self._shared:
            return None
        self._path.append(node.name)
        bare: Definition = copy.copy(node)
        bare.body = without_docstring(node.body) or [ast.Pass()]
        bare = self.generic_visit(bare)
        if not bare.body:  # whatever was in it was taken out
            bare = copy.copy(bare)
            bare.body = [ast.Pass()]
        self.found.setdefault(".".join(self._path), []).append(ast.dump(bare))
        self.nodes.setdefault(".".join(self._path), []).append(bare)
        self._path.pop()
        # no module means anything by a `global` statement at its top
        return None if self._path else ast.Global([node.name])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt | None:
        return self._take(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt | None:
        return self._take(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt | None:
        return self._take(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call that attaches documentation is a docstring in another place."""
        if _documents(node):
            return ast.Call(node.func, node.args[:1], [])
        return self.generic_visit(node)

    def generic_visit(self, node: _Node) -> _Node:
        """The node with what the visits of its children answered; a copy where that is something else."""
        changed: dict[str, object] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                visited = [answer for item in value if (answer := self._visited(item)) is not None]
                if len(visited) != len(value) or any(map(operator.is_not, visited, value)):
                    changed[name] = visited
            elif isinstance(value, ast.AST) and (answer := self.visit(value)) is not value:
                changed[name] = answer
        if not changed:
            return node
        copied = copy.copy(node)
        for name, value in changed.items():
            setattr(copied, name, value)
        return copied

    def _visited(self, item: object) -> object:
        return self.visit(item) if isinstance(item, ast.AST) else item


def _documents(call: ast.Call) -> bool:
    function = call.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in _DOCUMENTING_CALLS


def documented_by(call: ast.Call) -> tuple[ast.expr | None, list[ast.expr]]:
    """What a call attaches documentation to, and the documentation; nothing for any other call."""
    if not call.args or not _documents(call):
        return None, []
    return call.args[0], [*call.args[1:], *(keyword.value for keyword in call.keywords)]


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """A body without a leading string."""
    first = body[0] if body else None
    return body[1:] if isinstance(first, ast.Expr) and _is_text(first.value) else body


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def bound_names(statement: ast.stmt) -> tuple[str, ...]:
    """Names that a module-level assignment binds, in order; none for other statements."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = list(statement.targets)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    return tuple(node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def is_private(symbol: str) -> bool:
    """Whether the last part of a qualified name starts with an underscore and is no dunder."""
    name = last_part(symbol)
    return name.startswith("_") and not name.endswith("__")
