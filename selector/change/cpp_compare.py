"""Which named parts of a C++ file differ between two texts of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from selector.change.cpp_outline import Part, PartKind, outline
from selector.change.cpp_tokens import tokens

_WORD = re.compile(rb"[A-Za-z_]\w*")
_NAMESPACES = frozenset({b"at", b"c10", b"detail", b"native", b"std", b"torch"})
Key = tuple[PartKind, str, str, str]


@dataclass(slots=True)
class Piece:
    """The tokens of all parts of one name under one condition."""

    part: Part
    guard: str
    tokens: list[bytes] = field(default_factory=list)

    @property
    def words(self) -> frozenset[str]:
        """Names that are used, but for namespaces: the operator `std` is not used by whatever says `std::move`."""
        plain = [token.strip() for token in self.tokens]
        following = [*plain[1:], b""]
        names = (
            word for word, after in zip(plain, following, strict=True) if after != b"::" or word not in _NAMESPACES
        )
        return frozenset(name.decode(errors="replace") for name in names if _WORD.fullmatch(name))


@dataclass(frozen=True, slots=True)
class Difference:
    """`changed`: a piece of the new text, or of the old one where the new has none, with `added`, `removed` or
    `changed`, or `includes` when nothing else changed; `pieces`: all of the new text, then those only the old one
    has."""

    changed: tuple[tuple[Piece, str], ...]
    pieces: tuple[Piece, ...]


class CppText:
    """One text of a C++ file with its tokens, read once."""

    def __init__(self, text: str) -> None:
        self.source = text.encode("utf-8", errors="surrogatepass")
        self.tokens = tokens(self.source)

    def means_the_same_as(self, other: CppText) -> bool:
        """Whether a compiler sees no difference: comments and formatting apart, the texts are equal."""
        if len(self.tokens) != len(other.tokens):
            return False
        pairs = zip(self.tokens, other.tokens, strict=True)
        return all(one.text == two.text and one.guard == two.guard for one, two in pairs)


def compare_cpp(base: CppText, head: CppText) -> Difference:
    """What differs, in the order of the new text, what is gone last. Texts that differ in the order of their parts
    alone differ in the file."""
    before, after = _pieces(base), _pieces(head)
    # one that leaves a condition is no new one
    functions = {(kind, name) for kind, name, _, _ in before if kind is PartKind.FUNCTION}
    changed: list[tuple[Piece, str]] = []
    for key, piece in after.items():
        if key not in before:
            changed.append((piece, "changed" if (piece.part.kind, piece.part.name) in functions else "added"))
        elif before[key].tokens != piece.tokens:
            changed.append((piece, "includes" if _same_but_includes(before[key], piece) else "changed"))
    gone = [piece for key, piece in before.items() if key not in after]
    changed += [(piece, "removed") for piece in gone]
    return Difference(tuple(changed), (*after.values(), *gone))


def _same_but_includes(before: Piece, after: Piece) -> bool:
    return before.part.kind is PartKind.FILE and _without_includes(before) == _without_includes(after)


def _without_includes(piece: Piece) -> list[bytes]:
    kept: list[bytes] = []
    including = False
    for token, following in zip(piece.tokens, [*piece.tokens[1:], b""], strict=True):
        including = including or (token == b"#" and following.strip() == b"include")
        if not including:
            kept.append(token)
        including = including and token != b"\n"
    return kept


def _pieces(text: CppText) -> Mapping[Key, Piece]:
    pieces: dict[Key, Piece] = {}
    file = Part(PartKind.FILE, "", 0, len(text.source), 1)
    parts = outline(text.source)
    open_parts: list[Part] = [file]
    following = iter([*parts, None])
    upcoming = next(following)
    until, guard, into = 0, "", list[bytes]()  # what follows before `until` under the same guard goes into one piece
    for token in text.tokens:
        if token.start >= until or token.guard != guard:
            while len(open_parts) > 1 and open_parts[-1].end <= token.start:
                open_parts.pop()
            while upcoming is not None and upcoming.start <= token.start:
                if upcoming.end > token.start:
                    open_parts.append(upcoming)
                upcoming = next(following)
            until = min(open_parts[-1].end, upcoming.start if upcoming is not None else file.end)
            guard = token.guard
            into = _piece(pieces, open_parts[-1], guard).tokens
        into.append(token.text)
    return pieces


def _piece(pieces: dict[Key, Piece], part: Part, guard: str) -> Piece:
    key = (part.kind, part.name, part.key, guard)
    if key not in pieces:
        pieces[key] = Piece(part, guard)
    return pieces[key]
