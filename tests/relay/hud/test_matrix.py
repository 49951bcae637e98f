"""The matrix of a backend's page: which lines, which columns, which letters."""

from __future__ import annotations

from typing import Any

import pytest

from relay.hud.matrix import asked_for, by_commit, job_columns, pull_request_matrix, scheduled_matrix
from tests.relay.hud.cells import S1, S2, cell

_LATER = "2026-11-02T11:00:00.000000Z"


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["shard-1", "shard-2", "shard-3"], {"shard": 3}),
        (["shard_1", "shard_2", "shard_3"], {"shard": 3}),
        (["a-1", "a-2"], {"a-1": 1, "a-2": 1}),
        (["a-1", "a-2", "a-x"], {"a-1": 1, "a-2": 1, "a-x": 1}),
        (["1", "2", "3"], {"1": 1, "2": 1, "3": 1}),
        (["-1", "-2", "-3"], {"-1": 1, "-2": 1, "-3": 1}),
        (["a\nb-1", "a\nb-2", "a\nb-3"], {"a\nb": 3}),
    ],
)
def test_three_jobs_that_are_numbered_alike_are_one_column(names: list[str], labels: dict[str, int]) -> None:
    columns = job_columns(("CI", name) for name in names)
    assert {column.label: len(column.jobs) for column in columns} == labels
    assert all(column.grouped == (len(column.jobs) > 1) for column in columns)


def test_jobs_of_two_workflows_are_never_one_column() -> None:
    """Not by their name, and not as a group."""
    names = [(workflow, name) for workflow in ("A", "B") for name in ("build", "s-1", "s-2")]
    columns = job_columns([*names, ("A", "only")])
    assert [column.label for column in columns] == [
        *("A / build", "A / s-1", "A / s-2", "B / build", "B / s-1", "B / s-2"),
        "only",
    ]


@pytest.mark.parametrize(
    ("conclusions", "letter"),
    [
        (["success", "cancelled", "failure"], "X"),
        (["success", "cancelled", "timed_out"], "T"),
        (["success", None, "cancelled"], "C"),
        (["success", None, "skipped"], "?"),
        (["skipped", "success", "neutral"], "O"),
    ],
)
def test_a_group_shows_its_worst_member(conclusions: list[str | None], letter: str) -> None:
    rows = [cell(f"s-{number}", conclusion) for number, conclusion in enumerate(conclusions)]
    (line,) = pull_request_matrix(rows).lines
    (found,) = line.cells
    assert found is not None
    assert (found.letter, len(found.rows)) == (letter, 3)


def test_a_line_shows_the_newest_commit_and_keeps_the_others_as_history() -> None:
    """A second attempt on an old commit is the newest row, and still of the old commit."""
    rows = [
        cell(conclusion="failure", pytorch_head_sha=S1, run_attempt=2, started_at="2026-11-02T12:00:00.000000Z"),
        cell(pytorch_head_sha=S2, run_id="101", started_at=_LATER, sha_since=_LATER),
        cell(conclusion="failure", pytorch_head_sha=S1),
    ]
    (line,) = pull_request_matrix(rows).lines
    assert (line.sha, [found.letter for found in line.cells if found]) == (S2, ["O"])
    (old,) = line.history
    assert (old.sha, [found.letter for found in old.cells if found]) == (S1, ["X"])


def test_the_last_attempt_counts_and_of_two_runs_the_newer_one() -> None:
    rows = [
        cell("a", "success", run_attempt=1),
        cell("a", "failure", run_attempt=2),
        cell("b", "success", run_id="2"),
        cell("b", "failure", run_id="1", run_attempt=3),
    ]
    (line,) = pull_request_matrix(rows).lines
    assert [found.letter for found in line.cells if found] == ["X", "O"]


def test_what_was_not_reported_has_no_cell() -> None:
    rows = [cell("a", pr_number=8), cell("b", pr_number=7)]
    lines = pull_request_matrix(rows).lines
    assert [[bool(found) for found in line.cells] for line in lines] == [[True, False], [False, True]]
    assert [line.pr_number for line in lines] == [8, 7]


@pytest.mark.parametrize(("count", "shown", "has_next"), [(0, 0, False), (50, 50, False), (51, 50, True)])
def test_a_page_has_fifty_lines_and_knows_whether_there_are_more(count: int, shown: int, has_next: bool) -> None:
    rows = [cell(pr_number=number + 1, job=f"only-on-{number}") for number in range(count)]
    matrix = pull_request_matrix(rows)
    assert (len(matrix.lines), matrix.has_next) == (shown, has_next)
    assert not any(job == ("CI", "only-on-50") for column in matrix.columns for job in column.jobs)


@pytest.mark.parametrize(("page", "offset"), [(1, 0), (2, 50), (0, 0), (-3, 0)])
def test_a_page_is_asked_for_with_one_line_more(page: int, offset: int) -> None:
    assert asked_for(page) == {"per_page": 51, "offset": offset}


def _run(number: int, **changes: Any) -> dict[str, Any]:
    return cell(f"job-{number}", pr_number=0, **changes)


def test_scheduled_jobs_of_one_commit_are_one_line_whatever_their_build() -> None:
    matrix = scheduled_matrix([_run(1, run_id="1"), _run(2, run_id="2"), _run(3, run_id="2", pytorch_head_sha=S2)])
    assert [line.sha for line in matrix.lines] == [S1, S2]


def test_scheduled_jobs_without_a_commit_are_one_line_by_their_build() -> None:
    """65 jobs, each with a delivery of its own in the place of the commit."""
    rows = [_run(number, run_id="89", pytorch_head_sha=f"buildkite-89-{number}") for number in range(65)]
    (line,) = scheduled_matrix(rows).lines
    (found,) = line.cells
    assert found is not None
    assert (line.sha, len(found.rows)) == ("", 65)


def test_commits_are_ordered_by_when_they_were_first_heard_of() -> None:
    rows = [cell(pytorch_head_sha=S1), cell(pytorch_head_sha=S2, sha_since=_LATER), cell("b", pytorch_head_sha=S1)]
    assert [(found[0]["pytorch_head_sha"], len(found)) for found in by_commit(rows)] == [(S2, 1), (S1, 2)]
