"""From the parts of a C++ file to the operators they are about.

A function is an operator's when `native_functions.yaml` names it as a kernel, when a macro makes it the body of a
structured operator, when it is registered for a dispatch stub that an operator's kernel calls, or when such a function
of the same file uses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from selector.change.cpp_compare import CppText, Difference, Piece, compare_cpp
from selector.change.cpp_outline import Part, PartKind
from selector.change.native_yaml import base_name, kernels, operators
from selector.source import last_part
from selector.trees import SourceTree

_NATIVE_FUNCTIONS = (
    "aten/src/ATen/native/native_functions.yaml",
    "torchgen/packaged/ATen/native/native_functions.yaml",
)
_CALLS_STUBS = re.compile(r"aten/src/ATen/native/((sparse|quantized|nested|transformers)/)?\w+\.cpp")
_PREFIXES = ("", "_", "linalg_", "special_", "fft_", "_linalg_", "_fft_")


class Operators:
    """The operators of a tree and the kernels that `native_functions.yaml` names for them, read when first asked."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._stubs: dict[str, tuple[str, ...]] = {}
        self._texts: Mapping[str, str] | None = None
        self._known: tuple[frozenset[str], Mapping[str, Sequence[tuple[str, str]]]] | None = None

    def of_kernel(self, name: str) -> tuple[str, ...]:
        """Operators without overload that have a C++ function of this name as a kernel."""
        pairs = self._read()[1].get(name.rpartition("::")[2], ())
        return tuple(dict.fromkeys(base_name(operator) for operator, _ in pairs))

    def called(self, name: str) -> tuple[str, ...]:
        """The operator that is called `name`, with a module's prefix or without."""
        known = self._read()[0]
        return next(((prefix + name,) for prefix in _PREFIXES if prefix + name in known), ())

    def behind(self, stub: str) -> tuple[str, ...]:
        """The operators that a dispatch stub is for: the one it is called after, else those whose kernels call it."""
        if stub not in self._stubs:
            self._stubs[stub] = ()  # while it is looked up: its own registrations say nothing about it
            self._stubs[stub] = self.called(stub.removesuffix("_stub")) or self._calling(stub)
        return self._stubs[stub]

    def _calling(self, stub: str) -> tuple[str, ...]:
        found: dict[str, str] = {}
        for text in self._native().values():
            if stub in text:
                roots = Roots(compare_cpp(CppText(""), CppText(text)), self)
                found |= roots.operators(Piece(Part(PartKind.MACRO, stub, 0, 0, 0), ""))
        return tuple(found)

    def _native(self) -> Mapping[str, str]:
        """The files in which operators call stubs."""
        if self._texts is None:
            paths = [path for path in self._tree.paths() if _CALLS_STUBS.fullmatch(path)]
            self._texts = {path: self._tree.read(path) or "" for path in paths}
        return self._texts

    def _read(self) -> tuple[frozenset[str], Mapping[str, Sequence[tuple[str, str]]]]:
        if self._known is None:
            text = next((text for path in _NATIVE_FUNCTIONS if (text := self._tree.read(path))), "")
            self._known = (operators(text), kernels(text))
        return self._known


class Roots:
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
                return self._known.behind(part.name) if part.name.endswith("_stub") else ()
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
