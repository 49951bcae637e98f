"""Facts about one changed C++ file: which kernels and registrations of which operators, or which functions.

What no operator can be found for keeps its own name and no operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selector.change.backends import backend_of_key, backend_of_path
from selector.change.cpp_compare import CppText, Piece, compare_cpp
from selector.change.cpp_operators import Operators, Roots
from selector.change.cpp_outline import Part, PartKind
from selector.change.facts import Effect, Fact, FactKind

#: C, C++ and its dialects, whose comments and strings are those of C++.
SUFFIXES = (
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".cu",
    ".cuh",
    ".h",
    ".hip",
    ".hpp",
    ".hxx",
    ".inc",
    ".inl",
    ".m",
    ".metal",
    ".mm",
)
_HEADERS = (".h", ".hpp", ".hxx", ".cuh", ".inc", ".inl")
_MAX_OPERATORS = 200
_KINDS = {
    PartKind.STRUCTURED: FactKind.KERNEL,
    PartKind.TYPE: FactKind.CLASS,
    PartKind.MACRO: FactKind.NAME,
}
_SCHEMA_MACRO = frozenset({"", "CatchAll"})


@dataclass(frozen=True, slots=True)
class CppFile:
    """Both texts of a changed file, empty where it does not exist."""

    path: str
    base: CppText
    head: CppText

    @property
    def is_header(self) -> bool:
        return self.path.endswith(_HEADERS)


def cpp_facts(file: CppFile, known: Operators) -> Iterator[Fact]:
    """Facts in the order of the new text, those about what is gone last."""
    difference = compare_cpp(file.base, file.head)
    roots = Roots(difference, known)
    for piece, what in difference.changed:
        yield from _piece_facts(file, piece, what, roots)
    if not difference.changed:
        yield Fact(file.path, FactKind.MODULE, evidence="the order of the file's parts")


def _piece_facts(file: CppFile, piece: Piece, what: str, roots: Roots) -> Iterator[Fact]:
    part = piece.part
    effect = _effect(file, piece)
    if part.kind in (PartKind.FILE, PartKind.ERROR):
        yield _loose(file, piece, what, effect)
        return
    kind = _kind(file, piece)
    found = roots.operators(piece)
    backend = piece.guard or backend_of_path(file.path) or part.key
    evidence = f"{what}, {part.kind.value}" + (f" for {backend}" if effect is Effect.OTHER_BACKEND else "")
    for operator, chain in list(found.items())[:_MAX_OPERATORS]:
        through = f"{evidence}: {chain}" if chain else evidence
        partial = len(found) > _MAX_OPERATORS or (bool(chain) and not _is_private(part))
        yield Fact(file.path, _with_operator(kind), part.name, operator, effect, part.line, through, partial)
    if not found:
        effect = Effect.NEW if kind is FactKind.FUNCTION and what == "added" and effect is Effect.BEHAVIOUR else effect
        yield Fact(file.path, kind, part.name, "", effect, part.line, evidence)


def _is_private(part: Part) -> bool:
    """Whether all that use it stand in its file: it is no function, which others may declare, or a local one."""
    return part.local or part.kind in (PartKind.MACRO, PartKind.MACRO_CALL, PartKind.LIBRARY, PartKind.STRUCTURED)


def _loose(file: CppFile, piece: Piece, what: str, effect: Effect) -> Fact:
    """What stands in no part: includes, namespaces, and what is not understood."""
    if piece.part.kind is PartKind.ERROR and effect is not Effect.OTHER_BACKEND:
        return Fact(
            file.path, FactKind.UNKNOWN, effect=Effect.UNKNOWN, line=piece.part.line, evidence="C++ not understood"
        )
    kind = FactKind.HEADER if file.is_header else FactKind.INCLUDE if what == "includes" else FactKind.MODULE
    return Fact(file.path, kind, effect=effect, evidence=f"{what} outside every function")


def _kind(file: CppFile, piece: Piece) -> FactKind:
    if piece.part.kind in (PartKind.LIBRARY, PartKind.MACRO_CALL):
        return FactKind.REGISTRATION
    if file.is_header:
        return FactKind.HEADER
    return _KINDS.get(piece.part.kind, FactKind.FUNCTION)


def _with_operator(kind: FactKind) -> FactKind:
    return FactKind.KERNEL if kind is FactKind.FUNCTION else kind


def _effect(file: CppFile, piece: Piece) -> Effect:
    part = piece.part
    if piece.guard or backend_of_path(file.path) or _registers_elsewhere(piece):
        return Effect.OTHER_BACKEND
    if part.kind is PartKind.LIBRARY:
        return Effect.SCHEMA if part.key in _SCHEMA_MACRO else Effect.BEHAVIOUR
    return Effect.ABI if file.is_header else Effect.BEHAVIOUR


def _registers_elsewhere(piece: Piece) -> bool:
    """Whether a registration is one under another backend's key, or by a macro called after another backend."""
    key = piece.part.key
    if piece.part.kind is PartKind.LIBRARY:
        return bool(backend_of_key(key))
    return piece.part.kind is PartKind.MACRO_CALL and any(map(backend_of_key, key.split("_")))
