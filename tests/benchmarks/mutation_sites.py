"""Where a Python source file can be mutated, and how: `sites(path, source)`.

A mutation is one small edit of one function, as a text replaced by another at a place; the rest of the file stays byte
for byte, so that its diff reads like a person's.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

_OPPOSITE: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">="),
    ast.GtE: (">=", "<"),
    ast.Gt: (">", "<="),
    ast.LtE: ("<=", ">"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC: Mapping[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
}


#: Arguments that change places.
_SWAPPABLE = 2


class Kind(StrEnum):
    """What a mutation does."""

    CONDITION = "inverted condition"
    STATEMENT = "dropped statement"
    RETURN = "lost result"
    OPERATOR = "swapped operator"
    CONSTANT = "changed constant"
    ARGUMENTS = "swapped arguments"
    DECORATOR = "deleted decorator"


@dataclass(frozen=True, slots=True)
class Site:
    """One mutation: the bytes `start` to `end` of the file at `path` become `after`. `function` is the changed
    function's qualified name in the file, without `<locals>`; `line` counts from 1."""

    path: str
    function: str
    line: int
    kind: Kind
    start: int
    end: int
    after: str

    def mutated(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]

    def diff(self, source: bytes) -> str:
        """The unified diff of the mutation."""
        before, after = (text.decode().splitlines(keepends=True) for text in (source, self.mutated(source)))
        body = "".join(difflib.unified_diff(before, after, f"a/{self.path}", f"b/{self.path}"))
        return f"diff --git a/{self.path} b/{self.path}\n{body}"


@dataclass(frozen=True, slots=True)
class _Text:
    """A file's bytes and where each line starts; `ast` counts columns in bytes."""

    source: bytes
    starts: tuple[int, ...]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[last - 1] + column

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()


#: The edits of one kind at a node, each a start, an end and the new text.
Edits = Iterator[tuple[int, int, str]]


def sites(path: str, source: bytes) -> list[Site]:
    """Every mutation of the functions of a file, in the order of the file; `is_sound` has to hold for those that are
    used. Raises SyntaxError, UnicodeDecodeError."""
    text = _Text(source, tuple(accumulate(map(len, source.splitlines(keepends=True)), initial=0)))
    found = [
        Site(path, name, node.lineno, kind, start, end, after)
        for name, function in _functions(ast.parse(source), "")
        for node in _own_nodes(function)
        for kind, edits in _EDITS.items()
        for start, end, after in edits(node, text)
    ]
    return sorted(found, key=lambda site: (site.start, site.end, site.kind))


def is_sound(site: Site, source: bytes) -> bool:
    """Whether what comes out is Python, and another program than before."""
    try:
        changed = ast.parse(site.mutated(source))
        compile(changed, site.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


def function_names(source: bytes) -> list[str]:
    """The qualified names of all functions of a file."""
    return [name for name, _ in _functions(ast.parse(source), "")]


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, ast.FunctionDef):
                yield name, child
            yield from _functions(child, f"{name}.")
        elif not isinstance(child, ast.expr):
            yield from _functions(child, prefix)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.stmt | ast.expr]:
    """The function and what stands in its body, without definitions inside it and without its docstring."""
    yield function
    waiting: list[ast.AST] = list(function.body[ast.get_docstring(function, clean=False) is not None :])
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.stmt | ast.expr):
            yield node
        # Texts with fields in them have no places of their own for what stands in the fields.
        if not isinstance(node, ast.JoinedStr):
            waiting += ast.iter_child_nodes(node)


def _condition(node: ast.AST, text: _Text) -> Edits:
    if isinstance(node, ast.If | ast.IfExp):
        yield (*text.span(node.test), f"(not ({text.of(node.test)}))")


def _statement(node: ast.AST, text: _Text) -> Edits:
    if (
        isinstance(node, ast.AugAssign)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.Assign) and all(isinstance(it, ast.Attribute | ast.Subscript) for it in node.targets))
    ):
        yield (*text.span(node), "pass")


def _return(node: ast.AST, text: _Text) -> Edits:
    if isinstance(node, ast.Return) and node.value is not None:
        yield (*text.span(node.value), "None")


def _operator(node: ast.AST, text: _Text) -> Edits:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _OPPOSITE:
            yield from _between(left, right, _OPPOSITE[type(operator)], text)
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _ARITHMETIC:
            yield from _between(left, right, _ARITHMETIC[type(kind)], text)
        case ast.BoolOp(op=joint, values=[left, right]):
            yield from _between(left, right, ("and", "or") if isinstance(joint, ast.And) else ("or", "and"), text)
        case _:
            pass


def _between(left: ast.expr, right: ast.expr, words: tuple[str, str], text: _Text) -> Edits:
    """The operator between two operands, where nothing but blanks and brackets stands beside it."""
    start, end = text.span(left)[1], text.span(right)[0]
    gap = text.source[start:end].decode()
    if gap.replace("not in", "not_in").replace("is not", "is_not").strip(" ()") in (
        words[0],
        words[0].replace(" ", "_"),
    ):
        yield start, end, gap.replace(*words)


def _constant(node: ast.AST, text: _Text) -> Edits:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield (*text.span(node), str(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield (*text.span(node), str(node.value + 1))


def _arguments(node: ast.AST, text: _Text) -> Edits:
    if not isinstance(node, ast.Call) or len(node.args) < _SWAPPABLE:
        return
    one, two = node.args[:_SWAPPABLE]
    if isinstance(one, ast.Starred) or isinstance(two, ast.Starred) or text.of(one) == text.of(two):
        return
    (start, between), (after, end) = text.span(one), text.span(two)
    yield start, end, f"{text.of(two)}{text.source[between:after].decode()}{text.of(one)}"


def _decorator(node: ast.AST, text: _Text) -> Edits:
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            start, end = text.starts[decorator.lineno - 1], text.starts[decorator.end_lineno or decorator.lineno]
            yield start, end, ""


_EDITS: Mapping[Kind, Callable[[ast.AST, _Text], Edits]] = {
    Kind.CONDITION: _condition,
    Kind.STATEMENT: _statement,
    Kind.RETURN: _return,
    Kind.OPERATOR: _operator,
    Kind.CONSTANT: _constant,
    Kind.ARGUMENTS: _arguments,
    Kind.DECORATOR: _decorator,
}
