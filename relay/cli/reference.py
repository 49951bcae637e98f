"""The reference of all commands for the README, made from the commands themselves.

`python -m relay.cli.reference README.md` writes it between two marks. A test fails when the README says otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from relay.cli import help_text
from relay.cli.documented import codes_of
from relay.cli.exits import MEANINGS
from relay.cli.manner import ANYWHERE
from relay.cli.root import build

BEGIN = "<!-- relay commands: written by `python -m relay.cli.reference README.md` -->"
END = "<!-- end of relay commands -->"
#: typer's marks of what may not be left out; here what may be left out is marked, and nothing else.
_BRACES = str.maketrans("", "", "{}")

Command: TypeAlias = TyperCommand | TyperGroup


class NoMarks(Exception):  # noqa: N818 - named after what is missing
    """The file has no place for the reference."""


def reference() -> str:
    """The whole section, in Markdown."""
    root = build().load_all()
    rows = [_row(path, command) for path, command in _leaves(root, ("relay",))]
    shared = [option for option in root.params if isinstance(option, TyperOption) and set(option.opts) & set(ANYWHERE)]
    return "\n".join(
        [
            *("| command | what it does | options | exit codes |", "|---|---|---|---|", *rows, ""),
            *(help_text.reference_of_options(), ""),
            *("| option | what it does |", "|---|---|"),
            *(f"| {_names(option)} | {_cell(option.help or '')} |" for option in shared),
            *("", "| exit code | meaning |", "|---|---|"),
            *(f"| {int(code)} | {_cell(meaning)} |" for code, meaning in MEANINGS.items()),
        ]
    )


def placed_in(document: str) -> str:
    """The document with the reference of today between its marks. Raises `NoMarks`."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise NoMarks(f"there is no place for the reference: a line '{BEGIN}', and below it '{END}'")
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def _leaves(command: Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Every command that does something by itself, in the order of the help."""
    inner: dict[str, Command] = getattr(command, "commands", {})
    if not inner or getattr(command, "invoke_without_command", False):
        yield path, command
    for name, below in inner.items():
        yield from _leaves(below, (*path, name))


def _row(path: tuple[str, ...], command: Command) -> str:
    context = typer.Context(command, info_name=" ".join(path))
    pieces = [piece for it in command.params if isinstance(it, TyperArgument) for piece in it.get_usage_pieces(context)]
    options = [it for it in command.params if isinstance(it, TyperOption) and not it.hidden and it.name != "help"]
    line = _cell(" ".join([*path, *(piece.translate(_BRACES) for piece in pieces)]))
    codes = codes_of(path[1:], {name for option in options for name in option.opts})
    ends = ", ".join(str(int(code)) for code in codes)
    return f"| `{line}` | {_cell(_sentence(command))} | {', '.join(map(_names, options))} | {ends} |"


def _sentence(command: Command) -> str:
    """The first sentence of the help."""
    paragraph = " ".join((command.help or "").partition("\n\n")[0].split())
    first, stop, _ = paragraph.partition(". ")
    return f"{first}." if stop else paragraph


def _names(option: TyperOption) -> str:
    return " ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the reference into the named file."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m relay.cli.reference README.md\n")
        return 2
    file = Path(arguments[0])
    try:
        text = placed_in(file.read_text(encoding="utf-8"))
    except (OSError, NoMarks) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    file.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
