"""What a piece of Python does, as a digest of its syntax, and the names it says.

Owns what is not a difference: comments, docstrings and other loose texts, annotations, `object` among bases, the
arguments of `super`. Written for speed, because two releases of PyTorch have three million lines.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from selector.change.symbols import without_docstring

_DIGEST_BYTES = 8
_LEFT_OUT = frozenset({"annotation", "returns", "ctx", "type_comment", "kind", "type_params", "decorator_list"})
_OWN = ("self", "cls", "super")
#: What syntax asks of a value without naming it.
_ASKED: dict[type[ast.AST], str] = {ast.For: "__iter__", ast.comprehension: "__iter__", ast.In: "__contains__"}
_SUBSCRIPTS: dict[type[ast.expr_context], str] = {
    ast.Load: "__getitem__",
    ast.Store: "__setitem__",
    ast.Del: "__delitem__",
}
_BUILT_IN = frozenset({"iter", "len", "next", "repr", "str"})
_HEADS = frozenset({"target", "iter", "test", "items", "type"})
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}


class Digest:
    """Takes in nodes in order. `imports` are the import statements among them, `attributes` what is asked of anything
    but `self`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._said: set[str] = set()
        self._bound: set[str] = set()
        self.attributes: set[str] = set()
        self._inside_class = 0
        self.imports: list[ast.Import | ast.ImportFrom] = []

    def result(self) -> str:
        """The digest of all that was written; empty for nothing."""
        return self.of_text("\n".join(self._parts)) if self._parts else ""

    def of_text(self, text: str) -> str:
        content = text.encode("utf-8", errors="surrogatepass")
        return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()

    def names(self) -> set[str]:
        """The dotted names that were said, those left out that are bound here."""
        if not self._bound:
            return self._said
        return {name for name in self._said if name.partition(".")[0] not in self._bound}

    def write_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function without its name and decorators."""
        self._parts.append(type(node).__name__)
        self._arguments(node.args)
        self._statements(node.body)
        self._bound -= {"self", "cls"}

    def write_bases(self, node: ast.ClassDef) -> None:
        """The bases and keywords of a class."""
        self._parts.append("class")
        for base in node.bases:
            if not (isinstance(base, ast.Name) and base.id == "object"):
                self.write(base)
        for keyword in node.keywords:
            self.write(keyword)

    def write_head(self, node: ast.AST) -> None:
        """A block without the statements in it: what it loops over, what it depends on."""
        self._parts.append(type(node).__name__)
        for name, value in ast.iter_fields(node):
            if name in _HEADS:
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, ast.AST):
                        self.write(part)

    def write(self, node: ast.AST) -> None:
        """Take in a node and all below it."""
        kind = type(node)
        if kind is ast.Name:
            self._name(node)  # type: ignore[arg-type]  # just compared, which mypy does not follow
        elif kind is ast.Attribute:
            self._attribute(node)  # type: ignore[arg-type]  # as above
        elif kind is ast.Constant:
            self._parts.append(repr(node.value))  # type: ignore[attr-defined]  # as above
        elif isinstance(node, ast.Call) and _is_super(node):
            self._said.add("super")
            self._parts.append("super()")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._nested_function(node)
        elif isinstance(node, ast.ClassDef):
            self._nested_class(node)
        elif isinstance(node, ast.arguments):
            self._arguments(node)
        elif isinstance(node, ast.AnnAssign):
            self._annotated(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a text or a number on its own does nothing
        else:
            self._note(node, kind)
            self._plain(node, kind)

    def _note(self, node: ast.AST, kind: type[ast.AST]) -> None:
        """What a node says beside what stands below it."""
        if asked := _ASKED.get(kind):
            self.attributes.add(asked)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports.append(node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._bound.add(node.name)
        elif isinstance(node, ast.Subscript):
            self.attributes.add(_SUBSCRIPTS[type(node.ctx)])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BUILT_IN:
            self.attributes.add(f"__{node.func.id}__")

    def _plain(self, node: ast.AST, kind: type[ast.AST]) -> None:
        parts, write = self._parts, self.write
        parts.append(kind.__name__)
        for name in _FIELDS.get(kind) or _fields(kind):
            value = getattr(node, name, None)
            if isinstance(value, list):
                parts.append("[")
                for item in value:
                    if isinstance(item, ast.AST):
                        write(item)
                    else:
                        parts.append(repr(item))
                parts.append("]")
            elif isinstance(value, ast.AST):
                write(value)
            else:
                parts.append(repr(value))

    def _name(self, node: ast.Name) -> None:
        self._parts.append(node.id)
        if isinstance(node.ctx, ast.Load):
            self._said.add(node.id)
        else:
            self._bound.add(node.id)

    def _attribute(self, node: ast.Attribute) -> None:
        attributes = [node.attr]
        value = node.value
        while isinstance(value, ast.Attribute):
            attributes.append(value.attr)
            value = value.value
        attributes.reverse()
        rest = ".".join(attributes)
        self._parts.append(f".{rest}")
        if not (isinstance(value, ast.Name) and value.id in _OWN):
            self.attributes.update(attributes)
        if isinstance(value, ast.Name):
            self._parts.append(value.id)
            self._say(value.id, rest)
        elif isinstance(value, ast.Call) and _is_super(value):
            self._parts.append("super()")
            self._say("super", rest)
        else:
            self.write(value)

    def _say(self, root: str, rest: str) -> None:
        """A class inside a function has a `self` of its own, of which nothing is known."""
        if not (self._inside_class and root in _OWN):
            self._said.add(f"{root}.{rest}")

    def _arguments(self, node: ast.arguments) -> None:
        named = (*node.posonlyargs, *node.args, *node.kwonlyargs)
        starred = (node.vararg, node.kwarg)
        self._parts.append(f"({len(node.posonlyargs)} {len(node.args)} {[bool(one) for one in starred]}")
        for argument in (*named, *(one for one in starred if one is not None)):
            self._parts.append(argument.arg)
            self._bound.add(argument.arg)
        for default in (*node.defaults, *node.kw_defaults):
            if default is None:
                self._parts.append("-")
            else:
                self.write(default)
        self._parts.append(")")

    def _nested_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bound.add(node.name)
        self._parts += (type(node).__name__, node.name)
        for decorator in node.decorator_list:
            self.write(decorator)
        self._arguments(node.args)
        self._statements(node.body)

    def _nested_class(self, node: ast.ClassDef) -> None:
        self._bound.add(node.name)
        self._parts.append(node.name)
        self.write_bases(node)
        for decorator in node.decorator_list:
            self.write(decorator)
        self._inside_class += 1
        self._statements(node.body)
        self._inside_class -= 1

    def _statements(self, body: list[ast.stmt]) -> None:
        self._parts.append("{")
        for statement in without_docstring(body):
            self.write(statement)
        self._parts.append("}")

    def _annotated(self, node: ast.AnnAssign) -> None:
        """A declaration with a value is an assignment; one without is a field where it stands in a class."""
        if node.value is not None:
            self._parts += ("Assign", "[")
            self.write(node.target)
            self._parts.append("]")
            self.write(node.value)
        elif self._inside_class:
            self._parts.append("field")
            self.write(node.target)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    found = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _LEFT_OUT)
    return found


def _is_super(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "super"


def imported_here(path: str, statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Pairs of local name, `*` for everything, and the dotted name it stands for, from the root of the tree."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        return
    module = _absolute(path, statement)
    for alias in statement.names:
        if alias.name == "*":
            yield "*", module
        else:
            yield alias.asname or alias.name, f"{module}.{alias.name}" if module else alias.name


def _absolute(path: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parents = list(PurePosixPath(path).parents)
    folder = parents[min(statement.level - 1, len(parents) - 1)]
    return ".".join((*folder.parts, *filter(None, [statement.module])))
