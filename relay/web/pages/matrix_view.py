"""The matrix of a backend's page as it is shown: every cell a link to what is known of its jobs (5.2).

Pure: made of `relay.hud.matrix`. A cell has an address of its own, so that somebody can send it to somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from relay.hud.matrix import Cell, Column, Line, Matrix
from relay.hud.wording import SEVERITY
from relay.web import backend_words as words
from relay.web.pages.switches import Given, address
from relay.web.wording import Word, anchor

Row = Mapping[str, Any]

#: Failed tests of one job that are named.
_TESTS_NAMED = 20
#: Characters of what such a test said.
_MESSAGE_SHOWN = 400


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A letter and its words. `picked` is the one whose jobs are told below the matrix."""

    letter: str
    tone: str
    word: str
    title: str
    href: str
    picked: bool


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line. `older` links to the pull request's other commits, or away from them; lines of those are `dated`."""

    sha: str
    pr_number: int
    title: str
    at: datetime | None
    cells: tuple[ShownCell | None, ...]
    older: str = ""
    older_href: str = ""
    dated: bool = False


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test that a backend says failed: untrusted text."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Told:
    """One job of the cell that was picked. `log` is its log's address, empty when none was told."""

    job: str
    word: Word
    row: Row
    log: str
    tests: tuple[FailedTest, ...]
    more_tests: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picked:
    """The cell that the address names."""

    heading: str
    jobs: tuple[Told, ...]
    close: str


@dataclass(frozen=True, slots=True)
class ShownMatrix:
    """All of it. `legend` explains the letters that are there, worst first."""

    columns: tuple[Column, ...]
    lines: tuple[ShownLine, ...]
    legend: tuple[tuple[str, str, str], ...]
    picked: Picked | None
    previous: str
    following: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where the matrix stands and what its address asks for: a cell by its key, a pull request's older commits."""

    path: str
    given: Given
    job: str
    older: int | None
    page: int

    def address(self, fragment: str, **changes: str | int | None) -> str:
        """This page, its matrix changed."""
        mine: Given = {"page": self.page if self.page > 1 else None, "older": self.older, "job": self.job}
        return address(self.path, {**self.given, **mine}, changes, fragment)


def shown(matrix: Matrix, place: Place, titles: Mapping[int, str]) -> ShownMatrix:
    """The matrix with its links."""
    lines = tuple(_lines(matrix, place, titles))
    letters = {cell.letter for line in lines for cell in line.cells if cell}
    return ShownMatrix(
        columns=matrix.columns,
        lines=lines,
        legend=tuple(
            (letter, words.letter_tone(letter), words.letter_word(letter)) for letter in SEVERITY if letter in letters
        ),
        picked=_picked(matrix, place),
        previous=place.address("jobs", page=place.page - 1 if place.page > 2 else None) if place.page > 1 else "",
        following=place.address("jobs", page=place.page + 1) if matrix.has_next else "",
    )


def _lines(matrix: Matrix, place: Place, titles: Mapping[int, str]) -> Iterator[ShownLine]:
    for line in matrix.lines:
        opened = bool(line.history) and line.pr_number == place.older
        older = words.older_commits(len(line.history)) if line.history else ""
        href = place.address("jobs", older=None if opened else line.pr_number) if older else ""
        title = titles.get(line.pr_number, "")
        yield _line(line, matrix.columns, place, title=title, older=f"hide {older}" if opened else older, href=href)
        for past in line.history if opened else ():
            yield _line(past, matrix.columns, place, dated=True)


def _line(
    line: Line,
    columns: Sequence[Column],
    place: Place,
    *,
    title: str = "",
    older: str = "",
    href: str = "",
    dated: bool = False,
) -> ShownLine:
    cells = tuple(_cell(line, column, cell, place) for column, cell in zip(columns, line.cells, strict=True))
    at = datetime.fromisoformat(line.started_at) if line.started_at else None
    return ShownLine(line.sha, line.pr_number, title, at, cells, older, href, dated)


def _cell(line: Line, column: Column, cell: Cell | None, place: Place) -> ShownCell | None:
    if cell is None:
        return None
    key = _key(line, column)
    return ShownCell(
        letter=cell.letter,
        tone=words.letter_tone(cell.letter),
        word=words.letter_word(cell.letter),
        title=words.cell_title(column.label, cell.rows),
        href=place.address("job", job=key),
        picked=key == place.job,
    )


def _key(line: Line, column: Column) -> str:
    """Names a cell in an address. Its column goes by what it stands for: a label may change with its neighbours."""
    run = "" if line.sha else line.started_at or ""
    return anchor(json.dumps([line.pr_number, line.sha, run, column.jobs]))


def _picked(matrix: Matrix, place: Place) -> Picked | None:
    if not place.job:
        return None
    for line in matrix.lines:
        for one in (line, *line.history):
            for column, cell in zip(matrix.columns, one.cells, strict=True):
                if cell and _key(one, column) == place.job:
                    close = place.address("jobs", job=None)
                    return Picked(words.cell_heading(column.label, one.pr_number, one.sha), _jobs(cell), close)
    return None


def _jobs(cell: Cell) -> tuple[Told, ...]:
    return tuple(map(_told, cell.rows))


def _told(row: Row) -> Told:
    tests = _failed_tests(row["failed_tests_json"])
    return Told(
        job=f"{row['workflow_name']} / {row['job_name']}",
        word=words.job_word(row["status"], row["conclusion"]),
        row=row,
        log=log_address(row),
        tests=tests[:_TESTS_NAMED],
        more_tests=max(0, len(tests) - _TESTS_NAMED),
        evidence=words.evidence(row),
    )


def log_address(row: Row) -> str:
    """A job's log: on GitHub by the number of its check run, elsewhere the run that was told; empty without one."""
    run, check = str(row["workflow_run_url"]), str(row["check_run_id"])
    if run.startswith("https://github.com/") and "/actions/runs/" in run and check.isascii() and check.isdecimal():
        return f"{run.rstrip('/')}/job/{check}"
    return run


def _failed_tests(written: str) -> tuple[FailedTest, ...]:
    """Those that `relay.hud.extract` kept."""
    kept: list[Mapping[str, Any]] = json.loads(written) if written else []
    return tuple(map(_failed_test, kept))


def _failed_test(test: Mapping[str, Any]) -> FailedTest:
    names = [test[part] for part in ("classname", "name") if test.get(part)]
    return FailedTest("::".join(names) or "a test without a name", test.get("message", "")[:_MESSAGE_SHOWN])
