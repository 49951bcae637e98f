"""C++ source as the tokens a compiler sees, with what the preprocessor keeps for another backend told apart.

Two texts with equal tokens compile to the same program, so this is what proves that a change is comments or formatting
only. Blanks count where a macro can make text of them: in preprocessor lines, and in the arguments of macros (names in
capitals, and `assert`), as `TORCH_CHECK(a == b)` puts them into its message. Line numbers are not kept.
Phases of translation: https://en.cppreference.com/w/cpp/language/translation_phases
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from selector.change.backends import backend_of_macro

_TOKEN = re.compile(
    rb"""
      (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")
    | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    | (?P<comment>/\*.*?\*/|//(?:\\\r?\n|[^\n])*)
    | (?P<splice>\\\r?\n)
    | (?P<newline>\n)
    | (?P<blank>[ \t\r\f\v]+)
    | (?P<word>[A-Za-z_\x80-\xff$][\w\x80-\xff$]*)
    | (?P<sign>->\*?|::|<<=?|\+\+|--|&&|\|\||[-+*/%&|^!=<>]=|\#\#|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_SKIPPED = frozenset({"comment", "splice", "blank"})
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]{2,}|assert|static_assert")
_DEFINED = re.compile(rb"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)|(\w+)")


class Token(NamedTuple):
    """One token. `guard` is the other backend that alone compiles it; `directive`: it is part of a preprocessor line.
    A blank in front is part of `text` where it can matter."""

    text: bytes
    start: int
    guard: str
    directive: bool


@dataclass(slots=True)
class _State:
    """Where the reader is: in a directive, how deep in parentheses, from which depth on in a macro's arguments."""

    directive: bool = False
    line_start: bool = True
    depth: int = 0
    macro_depth: int | None = None
    blank: bool = False
    previous: bytes = b""


def tokens(source: bytes) -> list[Token]:
    """The tokens of a text in order. Nothing but comments and blanks is left out, whatever the text is."""
    return list(_guarded(_plain(source)))


def _plain(source: bytes) -> Iterator[Token]:
    state = _State()
    for match in _TOKEN.finditer(source):
        kind, text = match.lastgroup, match.group()
        if kind == "mark":
            kind = "raw"
        if kind in _SKIPPED:
            state.blank = True
        elif kind == "newline":
            if state.directive:
                yield Token(b"\n", match.start(), "", True)
            state.directive, state.line_start, state.blank = False, True, True
        else:
            if text == b"#" and state.line_start:
                state.directive = True
            yield Token(_spelled(text, state), match.start(), "", state.directive)
            _advance(text, state)
    if state.directive:
        yield Token(b"\n", len(source), "", True)


def _spelled(text: bytes, state: _State) -> bytes:
    matters = state.macro_depth is not None or (state.directive and not state.line_start)
    return b" " + text if matters and state.blank else text


def _advance(text: bytes, state: _State) -> None:
    if text == b"(":
        state.depth += 1
        if state.macro_depth is None and _MACRO.fullmatch(state.previous):
            state.macro_depth = state.depth
    elif text == b")":
        if state.macro_depth == state.depth:
            state.macro_depth = None
        state.depth = max(0, state.depth - 1)
    state.previous, state.line_start, state.blank = text, False, False


def _guarded(plain: Iterator[Token]) -> Iterator[Token]:
    """Each token with the outermost condition around it that only another backend fulfils. The lines of such a
    condition are that backend's as well: without it they select nothing."""
    conditions: list[str] = []
    line: list[Token] = []
    guard = ""
    for token in plain:
        if token.directive:
            line.append(token)
            if token.text == b"\n":
                own = _enter(conditions, b"".join(part.text for part in line))
                guard = _outermost(conditions)
                yield from (part._replace(guard=own) for part in line)
                line = []
        else:
            yield token._replace(guard=guard) if guard else token


def _outermost(conditions: list[str]) -> str:
    return next((guard.removeprefix("else ") for guard in conditions if guard and not guard.startswith("not ")), "")


def _enter(conditions: list[str], line: bytes) -> str:
    """Follow one preprocessor line and return the backend that the line itself belongs to. A condition that holds only
    without another backend is remembered as `not ` that backend, so that its `#else` is the backend's."""
    outside = _outermost(conditions)
    words = line.strip().removeprefix(b"#").strip()
    name, _, rest = words.partition(b" ")
    match name:
        case b"ifdef":
            conditions.append(backend_of_macro(rest.strip().decode(errors="replace")))
        case b"ifndef":
            backend = backend_of_macro(rest.strip().decode(errors="replace"))
            conditions.append(f"not {backend}" if backend else "")
            return outside
        case b"endif":
            closed = conditions.pop() if conditions else ""
            return outside or ("" if closed.startswith("not ") else closed)
        case b"else":
            before = conditions.pop() if conditions else ""
            conditions.append(_turned(before))
            return outside if outside and not before else _outermost(conditions) or outside
        case b"elif":  # its condition is asked wherever the first one does not hold
            if conditions:
                conditions[-1] = ""
            return _outermost(conditions)
        case _:
            if name.startswith(b"if"):
                conditions.append(_condition(words[2:]))
            else:
                return outside
    return _outermost(conditions)


def _turned(guard: str) -> str:
    """What holds in the `#else` of a condition."""
    if guard.startswith("not "):
        return guard.removeprefix("not ")
    return f"not {guard}" if guard else ""


def _condition(expression: bytes) -> str:
    """The other backend without which `expression` cannot hold, empty when there is none or it is not understood."""
    if any(sign in expression for sign in (b"!", b"=", b"<", b">", b"?", b"+")):
        return ""
    guards = [_clause(clause) for clause in expression.split(b"||")]
    return guards[0] if all(guards) else ""


def _clause(clause: bytes) -> str:
    names = (next(filter(None, found), b"") for found in _DEFINED.findall(clause))
    return next(filter(None, (backend_of_macro(name.decode(errors="replace")) for name in names)), "")
