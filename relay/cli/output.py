"""Where output goes: data to stdout, everything else to stderr, and JSON alone on stdout where JSON was asked for.

Owns terminal detection, colour, tables and the cleaning of untrusted text. Off a terminal there is no alignment and,
unless it is asked for, no colour: columns are separated by tabs, times are ISO 8601. rich is imported only when a
terminal is written to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from relay.cli import text
from relay.cli.json_text import Json, to_json
from relay.cli.manner import manner
from relay.failures import Failure

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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
#: Characters of a terminal that each column of a table has to have at least.
_COLUMN_LEAST = 10
_CODES = {"green": "32", "bold red": "1;31", "yellow": "33", "cyan": "36"}
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


class Output:
    """One command's output. With `as_json`, `say` and `table` are silent on stdout and only `data` writes there."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.is_terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.has_colour = wants_colour(self.is_terminal)

    def data(self, value: Json) -> None:
        """Write one JSON value in one line, with the fields that were asked for. Call only for JSON output."""
        if fields := manner().fields:
            from relay.cli.fields import chosen

            value = chosen(value, fields)
        _write_json(value)

    def line_of(self, kinds: Sequence[str], value: Json) -> None:
        """One line of a stream of objects with one of `kinds` as their only key. Left out where it has none of the
        fields that were asked for. Call only for JSON output."""
        if fields := manner().fields:
            from relay.cli.fields import chosen_of_stream

            value = chosen_of_stream(value, fields, kinds)
        if value is not None:
            _write_json(value)

    def say(self, line: str = "") -> None:
        """A line of data for people."""
        if not self.as_json:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def clear(self) -> None:
        """An empty screen, for what is shown again and again. Terminals only."""
        sys.stdout.write("\x1b[H\x1b[2J")

    def note(self, line: str) -> None:
        """A line beside the data: progress, hints, warnings. Not under --quiet."""
        if not manner().quiet:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    def status(self, word: str) -> str:
        """A state as a cell: the word alone, and on a terminal with a glyph, so that colour never speaks alone."""
        return f"{_GLYPHS.get(_STYLES.get(word, ''), ' ')} {word}" if self.is_terminal else word

    def painted(self, line: str, word: str) -> str:
        """A line in the colour of a state, where there are colours. It must tell the state without them."""
        style = _STYLES.get(word, "") if self.has_colour else ""
        return f"\x1b[{_CODES[style]}m{line}\x1b[0m" if style else line

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
            self.say("\t".join(self._painted(one_line(cell, 2_000)) for cell in row))

    def _painted(self, cell: str) -> str:
        style = _style_of(cell) if self.has_colour else ""
        return f"\x1b[{_CODES[style]}m{cell}\x1b[0m" if style else cell

    def _terminal_table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        from rich.console import Console
        from rich.table import Table

        colours: Literal["standard"] | None = "standard" if self.has_colour else None
        console = Console(
            highlight=False,
            force_terminal=True,
            color_system=colours,
            no_color=not self.has_colour,
            legacy_windows=False,
        )
        if console.width < _COLUMN_LEAST * len(header):
            self._stacked(console, header, rows)
            return
        table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(header))
        for name in header:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*(_coloured(cell) for cell in row))
        console.print(table)

    def _stacked(self, console: Console, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A cell a line, where columns beside each other would have no room: what does not fit, the terminal wraps."""
        from rich.text import Text

        for number, row in enumerate(rows):
            if number and any(header):
                self.say()
            for name, cell in zip(header, row, strict=True):
                if cell.strip():
                    line = _coloured(cell.strip())
                    console.print(line if not name else Text.assemble((f"{name}: ", "bold"), line), soft_wrap=True)


def _write_json(value: Json) -> None:
    sys.stdout.write(to_json(value, encoding=sys.stdout.encoding or "utf-8") + "\n")
    sys.stdout.flush()


def wants_colour(is_terminal: bool) -> bool:
    """By --color, else NO_COLOR (https://no-color.org), else FORCE_COLOR (https://force-color.org), else where a
    terminal is."""
    wanted = manner().colour
    if wanted != "auto":
        return wanted == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_terminal


def _style_of(cell: str) -> str:
    """By the last word, where that is a state."""
    return _STYLES.get(cell.rpartition(" ")[2], "") if len(cell) < 20 else ""


def _coloured(cell: str) -> Text:
    """A cell that is never read as markup."""
    from rich.text import Text

    return Text(cell, style=_style_of(cell))


def trace(line: str) -> None:
    """What goes on behind a command, under --verbose."""
    if manner().verbose:
        sys.stderr.write(one_line(line, 1_000) + "\n")


def show_failure(failure: Failure, *, as_json: bool) -> None:
    """The end of a command that did not work: an object on stdout for programs, sentences on stderr for people."""
    if as_json:
        told = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        _write_json({**told, "request_id": failure.request_id})
        return
    sys.stderr.write(f"error: {clean(failure.message)}\n")
    if failure.hint:
        sys.stderr.write(f"hint: {clean(failure.hint)}\n")
    if failure.request_id and manner().verbose:
        sys.stderr.write(f"request: {one_line(failure.request_id, 100)}\n")


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, before (and although) it may be wrong."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options or has_format(options, "json")


def has_format(options: Sequence[str], name: str) -> bool:
    """Whether --format of a command line is this one."""
    return f"--format={name}" in options or ("--format", name) in pairwise(options)
