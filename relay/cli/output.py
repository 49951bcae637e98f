"""Where output goes: data to stdout, everything else to stderr, and JSON alone on stdout where JSON was asked for.

Owns terminal detection, colour, tables and the cleaning of untrusted text. Off a terminal there is neither colour nor
alignment: columns are separated by tabs, times are ISO 8601. rich is imported only when a terminal is written to.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from relay.cli import text
from relay.failures import Failure

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.text import Text

Json: TypeAlias = "Mapping[str, object] | Sequence[object] | BaseModel | str | int | float | bool | None"

_STYLES = {
    "success": "green",
    "ok": "green",
    "fixed": "green",
    "failure": "bold red",
    "failed": "bold red",
    "fail": "bold red",
    "regression": "bold red",
    "crash": "bold red",
    "timeout": "bold red",
    "missing": "bold red",
    "neutral": "yellow",
    "cancelled": "yellow",
    "flaky": "yellow",
    "warn": "yellow",
    "infra": "yellow",
    "running": "cyan",
    "selecting": "cyan",
}
_GLYPHS = {"green": "\N{CHECK MARK}", "bold red": "\N{BALLOT X}", "yellow": "!", "cyan": "\N{BULLET}"}


def clean(untrusted: str, cap: int = 2_000) -> str:
    """Text that cannot move the cursor, recolour the terminal or reverse the reading direction, and is not endless."""
    shown = untrusted[:cap] + ("…" if len(untrusted) > cap else "")
    return "".join(
        c if c.isprintable() or c == "\n" else " " if c in "\t\r" else "\N{REPLACEMENT CHARACTER}" for c in shown
    )


def one_line(untrusted: str, cap: int = 300) -> str:
    """`clean`, with line ends as spaces."""
    return " ".join(clean(untrusted, cap).split())


def to_json(value: Json) -> str:
    """One line of JSON, models included."""
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"not JSON: {type(value).__name__}")


class Output:
    """One command's output. With `as_json`, `say` and `table` are silent on stdout and only `data` writes there."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def data(self, value: Json) -> None:
        """Write one JSON value in one line. Call only for JSON output."""
        sys.stdout.write(to_json(value) + "\n")
        sys.stdout.flush()

    def say(self, line: str = "") -> None:
        """A line of data for people."""
        if not self.as_json:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def note(self, line: str) -> None:
        """A line beside the data: progress, hints, warnings."""
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def status(self, word: str) -> str:
        """A state as a cell: the word alone, and on a terminal with a glyph, so that colour never speaks alone."""
        return f"{_GLYPHS.get(_STYLES.get(word, ''), ' ')} {word}" if self.is_terminal else word

    def when(self, moment: datetime | None) -> str:
        """A time as a cell: relative for a reader, ISO for a program."""
        if moment is None:
            return ""
        return text.how_long_ago(moment, datetime.now(UTC)) if self.is_terminal else moment.isoformat()

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Rows of cells, already cleaned. The header is for terminals only."""
        if self.as_json:
            return
        if self.is_terminal:
            self._terminal_table(header, rows)
            return
        for row in rows:
            self.say("\t".join(one_line(cell, 2_000) for cell in row))

    def _terminal_table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(header))
        for name in header:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_coloured(cell) for cell in row))
        Console(highlight=False).print(table)


def _coloured(cell: str) -> Text:
    """A cell that is never read as markup, coloured by its last word where that is a state."""
    from rich.text import Text

    return Text(cell, style=_STYLES.get(cell.rpartition(" ")[2], "") if len(cell) < 20 else "")


def show_failure(failure: Failure, *, as_json: bool) -> None:
    """The end of a command that did not work: an object on stdout for programs, sentences on stderr for people."""
    if as_json:
        sys.stdout.write(to_json({"code": failure.code, "message": failure.message, "hint": failure.hint}) + "\n")
        return
    sys.stderr.write(f"error: {clean(failure.message)}\n")
    if failure.hint:
        sys.stderr.write(f"hint: {clean(failure.hint)}\n")


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, before (and although) it may be wrong."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or "--format=json" in options or ("--format", "json") in pairwise(options)
