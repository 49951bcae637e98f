"""C++ source as the tokens a compiler sees, with what the preprocessor keeps for another backend told apart.

Two texts with equal tokens compile to the same program, so this is what proves that a change is comments or formatting
only. Blanks count where a macro can make text of them: in preprocessor lines, and in the arguments of macros (names in
capitals, and `assert`), as `TORCH_CHECK(a == b)` puts them into its message. Line numbers are not kept.
Phases of translation: https://en.cppreference.com/w/cpp/language/translation_phases
"""

from __future__ import annotations

import re
from typing import NamedTuple

from selector.change.backends import backend_of_macro

# What is skipped, and then a token, a newline included; nothing at the end of the text.
_TOKEN = re.compile(
    rb"""
    ((?:[ \t\r\f\v]+|/\*.*?\*/|//(?:\\\r?\n|[^\n])*|\\\r?\n)*)
    ( (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
    | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
    | \.?\d(?:[eEpP][+-]|'?[\w.])*
    | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+'
    | [A-Za-z_\x80-\xff$][\w\x80-\xff$]*
    | ->\*?|::|<<=?|\+\+|--|&&|\|\||[-+*/%&|^!=<>]=|\#\#|.
    |)
    """,
    re.DOTALL | re.VERBOSE,
)
_MACRO = re.compile(rb"[A-Z][A-Z0-9_]{2,}|assert|static_assert")
_DEFINED = re.compile(rb"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)|(\w+)")


class Token(NamedTuple):
    """One token. `guard` is the other backend that alone compiles it; `directive`: it is part of a preprocessor line.
    A blank in front is part of `text` where it can matter."""

    text: bytes
    start: int
    guard: str
    directive: bool


def tokens(source: bytes) -> list[Token]:
    """The tokens of a text in order. Nothing but comments and blanks is left out, whatever the text is.

    Each has the outermost condition around it that only another backend fulfils. The lines of such a condition are that
    backend's as well: without it they select nothing."""
    found: list[Token] = []
    conditions: list[str] = []
    guard, directive = "", -1  # where the preprocessor line begins that is being read
    line_start, previous = True, b""
    depth, macro_depth = 0, 0  # of parentheses, and from which depth on they are a macro's arguments
    for match in _TOKEN.finditer(source):
        blank, text = match.group(1, 2)
        if text == b"\n" or not text:
            if directive >= 0:
                found.append(Token(b"\n", match.start(2), "", directive=True))
                guard = _close_line(found, directive, conditions)
            directive, line_start = -1, True
            continue
        if line_start and text == b"#":
            directive = len(found)
        matters = (blank or line_start) if macro_depth else blank and directive >= 0 and not line_start
        found.append(Token(b" " + text if matters else text, match.start(2), guard, directive >= 0))
        if text == b"(":
            depth += 1
            if not macro_depth and _MACRO.fullmatch(previous):
                macro_depth = depth
        elif text == b")":
            if macro_depth == depth:
                macro_depth = 0
            depth = max(0, depth - 1)
        previous, line_start = text, False
    return found


def _close_line(found: list[Token], start: int, conditions: list[str]) -> str:
    """Give a preprocessor line, which begins at a place of `found`, its guard, and return that of what follows."""
    line = found[start:]
    own = _enter(conditions, b"".join(part.text for part in line))
    found[start:] = [Token(part.text, part.start, own, directive=True) for part in line]
    return _outermost(conditions)


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
