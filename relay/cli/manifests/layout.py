"""How findings are written: lines for people, JSON for programs, annotations for a workflow run on GitHub."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from relay.cli.output import one_line

LINE_CAP = 2_000


class Format(StrEnum):
    """How findings are printed; `github` makes annotations of a workflow run."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


FormatOption = Annotated[Format, typer.Option("--format", help="How to write it.")]


def annotation(severity: str, place: tuple[str, int, int], title: str, message: str) -> str:
    """A workflow command (`error`, `warning` or `notice`) at a file, line and column.

    Source: https://github.com/actions/toolkit, `packages/core/src/command.ts`.
    """
    file, line, column = place
    where = f"file={_escaped(file, ':,')},line={line},col={column},title={_escaped(title, ':,')}"
    return f"::{severity} {where}::{_escaped(one_line(message, LINE_CAP))}"


def _escaped(untrusted: str, more: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in "%\r\n" + more else char for char in untrusted)
