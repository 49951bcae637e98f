"""The matrix of one backend's page: lines are pull requests or scheduled runs, columns are jobs (5.2).

Pure: made of the rows that `crcr_backend_dashboard` and `crcr_nightly_dashboard` answer, which come newest first. A
line shows one commit; what was reported for older ones is its history, so that an old failure colours nothing new.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relay.hud import wording
from relay.hud.backend_pages import run_of
from relay.hud.untrusted import is_sha

PAGE_SIZE = 50
#: So many jobs that are numbered alike become one column.
GROUP_FROM = 3

_NUMBERED = re.compile(r"(.+)[-_][0-9]+", re.DOTALL)

Row = Mapping[str, Any]
JobName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """One job, or several that are numbered alike. `jobs` are (workflow, job) names: two workflows may have a job of
    the same name, and those are two columns."""

    label: str
    jobs: tuple[JobName, ...]

    @property
    def grouped(self) -> bool:
        """Whether it stands for several jobs."""
        return len(self.jobs) > 1


@dataclass(frozen=True, slots=True)
class Cell:
    """A line's jobs of one column, worst first: `letter` is that of the worst."""

    letter: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One commit of a pull request, or one scheduled run. `cells` are as many as there are columns, None where nothing
    was reported; `history` are lines of older commits, newest first."""

    sha: str
    pr_number: int
    started_at: str | None
    cells: tuple[Cell | None, ...]
    history: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Matrix:
    """One page."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    page: int
    has_next: bool


def asked_for(page: int, *, page_size: int = PAGE_SIZE) -> dict[str, int]:
    """The parameters of a page, counted from 1: one line more than is shown tells whether there is a next page."""
    return {"per_page": page_size + 1, "offset": (max(page, 1) - 1) * page_size}


def pull_request_matrix(rows: Sequence[Row], *, page: int = 1, page_size: int = PAGE_SIZE) -> Matrix:
    """A line for each pull request."""
    return _matrix(_grouped(rows, lambda row: row["pr_number"]), _pull_request_line, page, page_size)


def scheduled_matrix(rows: Sequence[Row], *, page: int = 1, page_size: int = PAGE_SIZE) -> Matrix:
    """A line for each scheduled run."""
    runs = _grouped(rows, lambda row: run_of(row["pytorch_head_sha"], row["run_id"]))
    return _matrix(runs, _scheduled_line, page, page_size)


def _matrix(
    groups: Mapping[Any, Sequence[Row]],
    line: Callable[[Sequence[Row], Sequence[Column]], Line],
    page: int,
    page_size: int,
) -> Matrix:
    shown = list(groups.values())[:page_size]
    columns = job_columns((row["workflow_name"], row["job_name"]) for rows in shown for row in rows)
    return Matrix(columns, tuple(line(rows, columns) for rows in shown), max(page, 1), len(groups) > page_size)


def _grouped(rows: Iterable[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """In the order of the first row of each group, which is its newest."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def job_columns(names: Iterable[JobName]) -> tuple[Column, ...]:
    """The columns for these jobs, by label."""
    jobs = sorted(set(names))
    families = Counter(_family(job) for job in jobs)
    members: dict[tuple[JobName, bool], list[JobName]] = defaultdict(list)
    for job in jobs:
        family = _family(job)
        together = family is not None and families[family] >= GROUP_FROM
        members[(family, True) if together and family is not None else (job, False)].append(job)
    workflows = defaultdict(set)
    for (workflow, label), _ in members:
        workflows[label].add(workflow)
    columns = [Column(_label(name, workflows[name[1]]), tuple(found)) for (name, _), found in members.items()]
    return tuple(sorted(columns, key=lambda column: (column.label, column.jobs)))


def _family(job: JobName) -> JobName | None:
    """What numbered jobs of one workflow have in common."""
    numbered = _NUMBERED.fullmatch(job[1])
    return (job[0], numbered.group(1)) if numbered else None


def _label(name: JobName, workflows: set[str]) -> str:
    return name[1] if len(workflows) == 1 else f"{name[0]} / {name[1]}"


def _pull_request_line(rows: Sequence[Row], columns: Sequence[Column]) -> Line:
    newest, *older = [_line(found, columns) for found in by_commit(rows)]
    return Line(newest.sha, newest.pr_number, newest.started_at, newest.cells, tuple(older))


def by_commit(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each commit, the commit that was heard of last first. A commit that is tried again has newer rows
    than the one that replaced it, and is older all the same."""
    commits = _grouped(rows, lambda row: row["pytorch_head_sha"])
    return sorted(commits.values(), key=lambda found: min(row["sha_since"] for row in found), reverse=True)


def _scheduled_line(rows: Sequence[Row], columns: Sequence[Column]) -> Line:
    return _line(rows, columns)


def _line(rows: Sequence[Row], columns: Sequence[Column]) -> Line:
    jobs = {(row["workflow_name"], row["job_name"]): row for row in reversed(last_attempts(rows))}
    sha = rows[0]["pytorch_head_sha"]
    started = [row["started_at"] for row in rows if row["started_at"]]
    cells = tuple(_cell([jobs[name] for name in column.jobs if name in jobs]) for column in columns)
    return Line(sha if is_sha(sha) else "", rows[0]["pr_number"], max(started, default=None), cells)


def last_attempts(rows: Sequence[Row]) -> list[Row]:
    """Of each job in each run its last attempt, in the same order."""
    last: dict[tuple[str, ...], int] = {}
    for row in rows:
        last[_run(row)] = max(row["run_attempt"], last.get(_run(row), 0))
    return [row for row in rows if row["run_attempt"] == last[_run(row)]]


def _run(row: Row) -> tuple[str, ...]:
    return (row["run_id"], row["workflow_name"], row["job_name"])


def _cell(rows: Sequence[Row]) -> Cell | None:
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: wording.SEVERITY.index(_letter(row)))
    return Cell(_letter(ordered[0]), tuple(ordered))


def _letter(row: Row) -> str:
    return wording.letter(row["status"], row["conclusion"])
