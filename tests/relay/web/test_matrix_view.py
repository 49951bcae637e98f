"""A cell's address names it for good, and a log is linked only where one was told."""

from __future__ import annotations

from typing import Any

import pytest

from relay.hud.matrix import pull_request_matrix
from relay.web.pages.matrix_view import Place, ShownMatrix, log_address, shown
from tests.relay.hud.cells import S1, S2, cell

FULL: dict[str, Any] = {"duration_seconds": 5, "failed_tests_json": "", "workflow_run_url": "", "check_run_id": ""}


def view(rows: list[dict[str, Any]], *, page: int = 1, job: str = "", older: int | None = None) -> ShownMatrix:
    place = Place("/backends/a/l2", {"days": 30}, job, older, page)
    return shown(pull_request_matrix(rows, page=page), place, {7: "Fix it"})


def key(found: ShownMatrix, line: int, column: int) -> str:
    shown_cell = found.lines[line].cells[column]
    assert shown_cell is not None
    return shown_cell.href.split("job=")[1].split("#")[0]


def test_a_cell_keeps_its_address_when_others_come() -> None:
    before = view([cell(**FULL)])
    again = view([cell("a-new-one", pr_number=8, **FULL), cell(**FULL)])
    assert key(before, 0, 0) == key(again, 1, 1)


def test_cells_of_other_commits_and_jobs_have_other_addresses() -> None:
    older = cell(pytorch_head_sha=S2, sha_since="2026-11-01T09:00:00.000000Z", **FULL)
    found = view([cell(**FULL), cell("test", **FULL), older], older=7)
    assert [line.dated for line in found.lines] == [False, True]
    assert len({key(found, 0, 0), key(found, 0, 1), key(found, 1, 0)}) == 3


def test_the_cell_of_an_older_commit_is_found_though_it_is_folded() -> None:
    older = cell(conclusion="failure", pytorch_head_sha=S2, sha_since="2026-11-01T09:00:00.000000Z", **FULL)
    wanted = key(view([cell(**FULL), older], older=7), 1, 0)
    picked = view([cell(**FULL), older], job=wanted).picked
    assert picked is not None
    assert picked.heading == f"build for #7 at {S2[:10]}"
    assert picked.close == "/backends/a/l2?days=30#jobs"
    assert view([cell(**FULL)], job=wanted).picked is None


def test_the_legend_holds_what_is_there_worst_first() -> None:
    found = view([cell("a", **FULL), cell("b", "failure", **FULL), cell("c", None, **FULL)])
    assert [letter for letter, _, _ in found.legend] == ["X", "?", "O"]


def test_a_title_is_shown_once_and_not_with_the_history() -> None:
    older = cell(pytorch_head_sha=S2, sha_since="2026-11-01T09:00:00.000000Z", **FULL)
    found = view([cell(pytorch_head_sha=S1, **FULL), older], older=7)
    assert [line.title for line in found.lines] == ["Fix it", ""]
    assert found.lines[0].older == "hide 1 older commit"
    assert found.lines[0].older_href == "/backends/a/l2?days=30#jobs"


@pytest.mark.parametrize(
    ("url", "check", "log"),
    [
        ("https://github.com/a/l2/actions/runs/1/", "9", "https://github.com/a/l2/actions/runs/1/job/9"),
        ("https://github.com/a/l2/actions/runs/1", "", "https://github.com/a/l2/actions/runs/1"),
        ("https://github.com/a/l2/actions/runs/1", "9/../x", "https://github.com/a/l2/actions/runs/1"),
        ("https://ci.example/actions/runs/1", "9", "https://ci.example/actions/runs/1"),
        ("", "9", ""),
    ],
)
def test_a_log_is_a_jobs_own_on_github_and_the_run_elsewhere(url: str, check: str, log: str) -> None:
    assert log_address({"workflow_run_url": url, "check_run_id": check}) == log
