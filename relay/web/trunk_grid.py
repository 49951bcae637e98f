"""The trunk as a grid: commits are lines, jobs are columns, or the devices and backends that the jobs belong to.

Pure: made of a window of commits. A column is there when a commit of the window has something in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from relay.trunk_views import BY_WEIGHT, Outcome, TrunkCommit, TrunkJob, TrunkResult
from relay.web.trunk_words import OUTCOME_WORDS, about
from relay.web.wording import Word


class Grouping(StrEnum):
    """What a column is."""

    DEVICE = "device"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: a job, or all jobs of a device or a backend; then `name` is empty."""

    where: str
    name: str
    ours: bool

    @property
    def place(self) -> tuple[bool, str, str, str]:
        """Our devices come first, then the backends, each by name."""
        return not self.ours, self.where.casefold(), self.where, self.name

    @property
    def key(self) -> str:
        """Tells columns of several windows apart, and sorts as they stand."""
        return "\t".join((str(int(not self.ours)), self.where.casefold(), self.where, self.name))


@dataclass(frozen=True, slots=True)
class Cell:
    """How the jobs of a column went on a commit: the worst of them. `broken` counts its tests, `url` opens it."""

    word: Word
    broken: int
    url: str
    about: str


@dataclass(frozen=True, slots=True)
class Line:
    """A commit with a cell for each column, None where nothing ran."""

    commit: TrunkCommit
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """Lines and columns. `spans` are the column's owners with how many columns each has, in order; `counts` how many
    cells show which outcome, worst first."""

    columns: tuple[Column, ...]
    spans: tuple[tuple[str, int], ...]
    lines: tuple[Line, ...]
    counts: tuple[tuple[Word, int], ...]


def grid(commits: Sequence[TrunkCommit], grouping: Grouping) -> Grid:
    """The grid of these commits. Our devices come first, then the backends, each by name."""
    column_of = _by_device if grouping is Grouping.DEVICE else _by_job
    found = {column_of(result.job) for commit in commits for result in commit.results}
    columns = tuple(sorted(found, key=lambda column: column.place))
    lines = tuple(Line(commit, _cells(commit.results, columns, column_of)) for commit in commits)
    owners = groupby(column.where for column in columns)
    spans = tuple((where, sum(1 for _ in same)) for where, same in owners)
    return Grid(columns, spans, lines, tuple(_counts(lines)))


def _by_device(job: TrunkJob) -> Column:
    return Column(job.where, "", job.ours)


def _by_job(job: TrunkJob) -> Column:
    return Column(job.where, job.name, job.ours)


def _cells(
    results: Iterable[TrunkResult], columns: Sequence[Column], column_of: Callable[[TrunkJob], Column]
) -> tuple[Cell | None, ...]:
    inside: dict[Column, list[TrunkResult]] = {}
    for result in results:
        inside.setdefault(column_of(result.job), []).append(result)
    return tuple(_cell(inside[column]) if column in inside else None for column in columns)


def _cell(results: Sequence[TrunkResult]) -> Cell:
    ordered = sorted(results, key=lambda result: BY_WEIGHT.index(result.outcome))
    worst = ordered[0]
    url = f"/runs/{worst.run_id}" if worst.run_id is not None else worst.url
    broken = worst.broken if worst.outcome is Outcome.FAILED else 0
    return Cell(OUTCOME_WORDS[worst.outcome], broken, url, about(ordered))


def _counts(lines: Sequence[Line]) -> Iterable[tuple[Word, int]]:
    shown = Counter(cell.word.word for line in lines for cell in line.cells if cell is not None)
    for word in (OUTCOME_WORDS[outcome] for outcome in BY_WEIGHT):
        if shown[word.word]:
            yield word, shown[word.word]
