"""How a command behaves, whatever it does: colour, how much it says, whether it asks, which fields of its JSON.

These options may stand anywhere in a command line. They are moved to its front, where the root command reads them once
for all commands. Standard library only: this is imported by every start of the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Colour = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Manner:
    """`yes`: questions are answered with yes; `no_input`: a command that would ask fails. `fields` narrow JSON."""

    colour: Colour = "auto"
    quiet: bool = False
    verbose: bool = False
    yes: bool = False
    no_input: bool = False
    fields: tuple[str, ...] = ()


_current: ContextVar[Manner] = ContextVar("relay_manner")
_USUAL = Manner()

#: What may stand anywhere, and whether a value follows. No command may have an option of these names.
ANYWHERE = {
    **dict.fromkeys(("--color", "--fields"), True),
    **dict.fromkeys(("-q", "--quiet", "-v", "--verbose", "--yes", "--no-input"), False),
}


def manner() -> Manner:
    """That of the command line under way."""
    return _current.get(_USUAL)


def behave(wanted: Manner) -> None:
    """Let everything from here on behave like this."""
    _current.set(wanted)


def to_the_front(arguments: Sequence[str]) -> list[str]:
    """The command line with the options that may stand anywhere before all else. What follows `--` is left alone."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments[:end])
    for word in words:
        name, joined, _ = word.partition("=")
        if name not in ANYWHERE:
            rest.append(word)
            continue
        front.append(word)
        if ANYWHERE[name] and not joined:
            front.extend(value for value in (next(words, None),) if value is not None)
    return [*front, *rest, *arguments[end:]]
