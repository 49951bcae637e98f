"""The boxes on a pull request's page."""

from __future__ import annotations

from typing import Any

import pytest

from relay.hud.pull_section import backend_boxes
from relay.hud.wording import Tone
from tests.relay.hud.cells import S1, S2, cell

_NEW: dict[str, Any] = {"pytorch_head_sha": S2, "sha_since": "2026-11-02T11:00:00.000000Z"}


@pytest.mark.parametrize(
    ("conclusions", "tone"),
    [
        (["success", "skipped"], Tone.SUCCESS),
        (["success", None], Tone.WARNING),
        (["failure", None], Tone.ERROR),
        (["cancelled"], Tone.ERROR),
        (["neutral"], Tone.ERROR),
    ],
)
def test_a_box_is_red_with_a_failure_then_amber_while_a_job_runs(conclusions: list[str | None], tone: Tone) -> None:
    (box,) = backend_boxes([cell(f"j{number}", end) for number, end in enumerate(conclusions)])
    assert box.tone is tone


def test_a_box_is_judged_by_the_newest_commit_and_shows_the_others_as_history() -> None:
    (box,) = backend_boxes([cell(**_NEW), cell(conclusion="failure")])
    assert (box.tone, box.newest.sha, [old.sha for old in box.history]) == (Tone.SUCCESS, S2, [S1])


def test_a_backend_that_said_nothing_about_the_newest_commit_has_no_colour() -> None:
    boxes = backend_boxes([cell(**_NEW, downstream_repo="a/b"), cell(downstream_repo="a/a", conclusion="failure")])
    assert [(box.repo, box.tone, len(box.history)) for box in boxes] == [
        ("a/a", Tone.DEFAULT, 1),
        ("a/b", Tone.SUCCESS, 0),
    ]


def test_jobs_are_failed_ones_first_then_running_ones_then_by_name() -> None:
    rows = [cell("d"), cell("c", None), cell("b", "failure"), cell("a", "timed_out"), cell("e", "skipped")]
    (box,) = backend_boxes(rows)
    assert [job["job_name"] for job in box.newest.jobs] == ["a", "b", "c", "d", "e"]


def test_the_badge_is_the_level_of_the_newest_commit() -> None:
    rows = [cell(**_NEW, downstream_repo_level="L4"), cell(downstream_repo_level="L3")]
    assert backend_boxes(rows)[0].level == "L4"
    assert backend_boxes([cell(downstream_repo_level="")])[0].level == ""


def test_an_attempt_that_was_tried_again_does_not_colour_the_box() -> None:
    (box,) = backend_boxes([cell(run_attempt=2), cell(conclusion="failure", run_attempt=1)])
    assert (box.tone, len(box.newest.jobs)) == (Tone.SUCCESS, 1)


def test_nothing_reported_is_no_box() -> None:
    assert backend_boxes([]) == ()
