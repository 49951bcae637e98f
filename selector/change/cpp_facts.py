"""Facts about one changed C++ file: which kernels and registrations of which operators, or which functions.

A function is an operator's when `native_functions.yaml` names it as a kernel, when a macro makes it the body of a
structured operator, when it is registered for a dispatch stub called after an operator, or when such a function of the
same file uses it. What none of this explains keeps its own name and no operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selector.change.backends import backend_of_key, backend_of_path
from selector.change.cpp_compare import CppText, Difference, Piece, compare_cpp
from selector.change.cpp_outline import PartKind
from selector.change.facts import Effect, Fact, FactKind
from selector.change.native_yaml import base_name, kernels, operators
from selector.source import last_part
from selector.trees import SourceTree

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
_NATIVE_FUNCTIONS = (
    "aten/src/ATen/native/native_functions.yaml",
    "torchgen/packaged/ATen/native/native_functions.yaml",
)
_PREFIXES = ("", "_", "linalg_", "special_", "fft_", "_linalg_", "_fft_")
_MAX_OPERATORS = 200
_KINDS = {
    PartKind.STRUCTURED: FactKind.KERNEL,
    PartKind.TYPE: FactKind.CLASS,
    PartKind.MACRO: FactKind.NAME,
}
_SCHEMA_MACRO = frozenset({"", "CatchAll"})


class Operators:
    """The operators of a tree and the kernels that `native_functions.yaml` names for them, read when first asked."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._known: tuple[frozenset[str], Mapping[str, Sequence[tuple[str, str]]]] | None = None

    def of_kernel(self, name: str) -> tuple[str, ...]:
        """Operators without overload that have a C++ function of this name as a kernel."""
        pairs = self._read()[1].get(name.rpartition("::")[2], ())
        return tuple(dict.fromkeys(base_name(operator) for operator, _ in pairs))

    def called(self, name: str) -> tuple[str, ...]:
        """The operator that is called `name`, with a module's prefix or without."""
        known = self._read()[0]
        return next(((prefix + name,) for prefix in _PREFIXES if prefix + name in known), ())

    def _read(self) -> tuple[frozenset[str], Mapping[str, Sequence[tuple[str, str]]]]:
        if self._known is None:
            text = next((text for path in _NATIVE_FUNCTIONS if (text := self._tree.read(path))), "")
            self._known = (operators(text), kernels(text))
        return self._known


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
    roots = _Roots(difference, known)
    for piece, what in difference.changed:
        yield from _piece_facts(file, piece, what, roots)
    if not difference.changed:
        yield Fact(file.path, FactKind.MODULE, evidence="the order of the file's parts")


def _piece_facts(file: CppFile, piece: Piece, what: str, roots: _Roots) -> Iterator[Fact]:
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
        through = f": {chain}" if chain else ""
        yield Fact(file.path, _with_operator(kind), part.name, operator, effect, part.line, f"{evidence}{through}")
    if not found:
        yield Fact(file.path, kind, part.name, "", effect, part.line, evidence)


def _loose(file: CppFile, piece: Piece, what: str, effect: Effect) -> Fact:
    """What stands in no part: includes, namespaces, and what is not understood."""
    if piece.part.kind is PartKind.ERROR and effect is not Effect.OTHER_BACKEND:
        return Fact(
            file.path, FactKind.UNKNOWN, effect=Effect.UNKNOWN, line=piece.part.line, evidence="C++ not understood"
        )
    kind = FactKind.HEADER if file.is_header else FactKind.MODULE
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


class _Roots:
    """From the parts of one file to the operators they are about, through the parts that use them."""

    def __init__(self, difference: Difference, known: Operators) -> None:
        self._known = known
        self._users: dict[str, list[Piece]] = {}
        for piece in difference.pieces:
            if piece.part.kind not in (PartKind.FILE, PartKind.ERROR):
                for word in piece.words:
                    self._users.setdefault(word, []).append(piece)

    def operators(self, piece: Piece) -> dict[str, str]:
        """Operators of a part, each with the chain of users that leads to it, empty for its own."""
        own = self._own(piece)
        if own:
            return dict.fromkeys(own, "")
        found: dict[str, str] = {}
        seen = {piece.part.name}
        frontier = [(piece.part.name, _plain(piece.part.name))]
        while frontier:
            name, chain = frontier.pop(0)
            for user in self._users.get(_plain(name), ()):
                if user.part.name not in seen or user.part.kind is PartKind.MACRO_CALL:
                    for operator in self._own(user):
                        found.setdefault(operator, f"{chain} <- {user.part.name}")
                if user.part.name not in seen:
                    seen.add(user.part.name)
                    frontier.append((user.part.name, f"{chain} <- {_plain(user.part.name)}"))
        return found

    def _own(self, piece: Piece) -> tuple[str, ...]:
        part = piece.part
        match part.kind:
            case PartKind.LIBRARY:
                return self._registered(part.name)
            case PartKind.MACRO_CALL:
                return self._known.called(part.name.removesuffix("_stub")) if part.name.endswith("_stub") else ()
            case PartKind.STRUCTURED:
                return self._known.of_kernel(part.name) or self._known.called(base_name(part.name))
            case PartKind.FUNCTION:
                return self._known.of_kernel(part.name)
            case _:
                return ()

    def _registered(self, name: str) -> tuple[str, ...]:
        """`aten::add.Tensor` is `add`; an operator of another namespace keeps it. A whole block names none."""
        namespace, _, operator = name.rpartition("::")
        if not namespace:
            return ()
        return (base_name(operator),) if namespace == "aten" else (f"{namespace}::{base_name(operator)}",)


def _plain(name: str) -> str:
    return last_part(name.replace("::", "."))
