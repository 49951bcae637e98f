"""The named parts of a C++ file: functions, types, macros, and what macros register operators.

tree-sitter finds them; it does not know PyTorch's macros and recovers from what it cannot parse, so its tree only names
parts. Which tokens differ is decided on the tokens themselves (`selector.change.cpp_tokens`), each of which belongs to
exactly one part, the file itself at the outermost: a wrong tree can give a wrong name, never hide a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

#: Bytes that are parsed for names; larger files are one part. The largest of the tree has 0.5 MB.
PARSE_CAP = 2 * 1024 * 1024
_LANGUAGE = Language(tree_sitter_cpp.language())
_REGISTERING = re.compile(rb"\b(?:impl|def|impl_UNBOXED|class_)\s*(?:<[^;]*?>)?\s*\(")
_OPERATOR_TEXT = re.compile(rb'"([\w:]+(?:\.\w+)?)')
_MACRO_CALL = re.compile(rb"[A-Z][A-Z0-9_]{2,}")
_LIBRARIES = frozenset({"TORCH_LIBRARY", "TORCH_LIBRARY_IMPL", "TORCH_LIBRARY_FRAGMENT"})
_STRUCTURED = ("TORCH_IMPL_FUNC", "TORCH_META_FUNC", "TORCH_META_FUNC2", "TORCH_PRECOMPUTE_META_FUNC",
               "TORCH_PRECOMPUTE_META_FUNC2")  # fmt: skip
_TYPES = frozenset({"class_specifier", "struct_specifier", "union_specifier", "enum_specifier"})
_MACROS = frozenset({"preproc_def", "preproc_function_def"})
_NAMED = frozenset(
    {"identifier", "field_identifier", "destructor_name", "operator_name", "type_identifier", "qualified_identifier"}
)


class PartKind(StrEnum):
    """What a part is. A `STRUCTURED` function is the body of a structured operator, a `LIBRARY` entry a registration
    under a dispatch key, a `MACRO_CALL` one of another registration at file scope."""

    FILE = "file"
    FUNCTION = "function"
    STRUCTURED = "structured"
    TYPE = "type"
    MACRO = "macro"
    LIBRARY = "library"
    MACRO_CALL = "macro call"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Part:
    """A part from byte `start` to `end`. `name` is the symbol, qualified by its class; `key` the dispatch key of a
    library entry, or the macro of a macro call. `local`: no other file can call it."""

    kind: PartKind
    name: str
    start: int
    end: int
    line: int
    key: str = ""
    local: bool = False


def outline(source: bytes) -> list[Part]:
    """The parts in the order they start, the outer one first."""
    if len(source) > PARSE_CAP:
        return []
    root = Parser(_LANGUAGE).parse(source).root_node
    return sorted(_parts(root), key=lambda part: (part.start, -part.end))


def _parts(root: Node) -> Iterator[Part]:
    """An explicit stack of nodes, the class around them and whether a namespace without name is, because hostile source
    nests deeply."""
    stack: list[tuple[Node, str, Node, bool]] = [(child, "", child, False) for child in reversed(root.children)]
    while stack:
        node, owner, whole, local = stack.pop()
        inside = owner
        if node.type == "function_definition":
            yield from _function(node, owner, whole, local or _is_static(node))
            continue
        if node.type in _TYPES and (name := node.child_by_field_name("name")) is not None:
            inside = f"{owner}{_plain(_text(name))}"
            if node.child_by_field_name("body") is not None:
                yield _part(PartKind.TYPE, inside, whole)
            inside += "::"
        elif node.type in _MACROS and (name := node.child_by_field_name("name")) is not None:
            yield _part(PartKind.MACRO, _text(name), node)
            continue
        elif node.type == "expression_statement":
            yield from _macro_call(node)
            continue
        elif node.type == "declaration" and (name_ := _declared(node)):
            yield _part(PartKind.FUNCTION, owner + name_, whole)
            continue
        elif node.type == "ERROR":
            yield _part(PartKind.ERROR, "", node)
        template = node.type == "template_declaration"
        local = local or (node.type == "namespace_definition" and node.child_by_field_name("name") is None)
        stack.extend((child, inside, node if template else child, local) for child in reversed(node.children))


def _is_static(function: Node) -> bool:
    return any(child.type == "storage_class_specifier" and child.text == b"static" for child in function.children)


def _part(kind: PartKind, name: str, node: Node, key: str = "", *, local: bool = False) -> Part:
    return Part(kind, name, node.start_byte, node.end_byte, node.start_point[0] + 1, key, local)


def _function(node: Node, owner: str, whole: Node, local: bool) -> Iterator[Part]:
    declarator = node.child_by_field_name("declarator")
    name, arguments = _callee(declarator)
    if name in _LIBRARIES:
        yield from _library(node, arguments)
    elif name in _STRUCTURED:
        yield _part(PartKind.STRUCTURED, ".".join(arguments), node, name)
    else:
        yield _part(PartKind.FUNCTION, owner + name if name else "", whole, local=local)


def _callee(declarator: Node | None) -> tuple[str, list[str]]:
    """The name that a declarator declares and the words of its innermost parameters: `TORCH_IMPL_FUNC(add)(...)` is
    read as a function that returns a function."""
    node, arguments = declarator, list[str]()
    while node is not None and node.type not in _NAMED:
        if node.type == "function_declarator" and (parameters := node.child_by_field_name("parameters")) is not None:
            arguments = [_text(child) for child in parameters.named_children]
        inner = node.child_by_field_name("declarator")
        node = (
            inner
            if inner is not None
            else next((c for c in node.named_children if "declarator" in c.type or c.type in _NAMED), None)
        )
    if node is None:
        return "", arguments
    return _plain(_text(node)), arguments


def _declared(node: Node) -> str:
    """The name of a function that is only declared."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        declarator = next((child for child in declarator.named_children if "declarator" in child.type), None)
    if declarator is None or declarator.type != "function_declarator":
        return ""
    return _callee(declarator)[0]


def _library(node: Node, arguments: Sequence[str]) -> Iterator[Part]:
    """The calls inside a registration block, one part each; the block around them is a part of its own."""
    namespace, key = (arguments[0] if arguments else ""), (arguments[1] if len(arguments) > 2 else "")
    yield _part(PartKind.LIBRARY, namespace, node, key)
    body = node.child_by_field_name("body")
    for statement in body.named_children if body is not None else ():
        text = statement.text or b""
        match = _OPERATOR_TEXT.search(text) if _REGISTERING.search(text) else None
        if match is not None:
            name = match[1].decode()
            yield _part(PartKind.LIBRARY, name if "::" in name else f"{namespace}::{name}", statement, key)


def _macro_call(node: Node) -> Iterator[Part]:
    call = next((child for child in node.named_children if child.type == "call_expression"), None)
    function = call.child_by_field_name("function") if call is not None else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if function is None or arguments is None or not _MACRO_CALL.fullmatch(function.text or b""):
        return
    words = [_text(child) for child in arguments.named_children if child.type != "comment"]
    yield _part(PartKind.MACRO_CALL, words[0] if words else "", node, _text(function))


def _plain(name: str) -> str:
    """A name without what a macro in front or an unknown word behind it made part of it."""
    name = name.removeprefix("::")
    return name if name.startswith("operator") or "<" in name or "::operator" in name else name.partition(" ")[0]


def _text(node: Node) -> str:
    return " ".join((node.text or b"").decode("utf-8", errors="replace").split())[:200]
