"""Rows DB: the numbers and lists that the dashboard shows, asked for as it asks for them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from relay.hud.health import Health, nightly_health, passed_runs
from relay.hud.matrix import asked_for, job_columns, pull_request_matrix, scheduled_matrix
from relay.hud.pull_section import backend_boxes
from relay.hud.wording import Tone, excess_tone, percent
from tests.conformance.payloads import S1, S2
from tests.conformance.reported import PROBE, ask, job
from tests.conformance.world import World

_PAGE = {"repo": "a/l2", "days": 7, "per_page": 51, "offset": 0}


@pytest.mark.row("DB01")
def test_a_cancelled_job_counts_as_one_that_did_not_pass(world: World) -> None:
    """As every reader knows it; beside it stands the rate of those that came to a verdict."""
    for number, conclusion in enumerate(["success"] * 8 + ["failure", "cancelled"]):
        job(world, conclusion, job_name=f"j{number}")
    (row,) = ask(world, "crcr_summary", days=7)
    assert (row["pass_rate"], row["total"]) == (0.8, 10)
    assert (row["judged_pass_rate"], row["judged"]) == (8 / 9, 9)


@pytest.mark.row("DB02", "DB03")
@pytest.mark.parametrize(("repo", "successes", "failures"), [(PROBE, 1, 0), ("a/l2", 0, 1)])
def test_only_the_probe_may_fail_on_purpose(world: World, repo: str, successes: int, failures: int) -> None:
    job(world, "failure", repo=repo, job_name="t-xfail")
    (row,) = ask(world, "crcr_summary", days=7)
    assert (row["successes"], row["failures"]) == (successes, failures)


@pytest.mark.row("DB04")
def test_nightly_rows_are_in_the_nightly_tab_only(world: World) -> None:
    job(world, event="nightly", pr=0)
    assert ask(world, "crcr_summary", days=7) == []
    assert [row["repo"] for row in ask(world, "crcr_nightly_summary", days=7)] == ["a/l2"]


@pytest.mark.row("DB05")
def test_a_row_without_a_pull_request_is_in_the_charts_only(world: World) -> None:
    job(world, pr=0)
    assert ask(world, "crcr_summary", days=7) == []
    assert ask(world, "crcr_backend_dashboard", **_PAGE) == []
    assert ask(world, "crcr_success_rate", days=7, event_type="pull_request")[0]["total"] == 1


@pytest.mark.row("DB06")
def test_what_started_before_the_range_is_nowhere(world: World) -> None:
    for event, pull in (("pull_request", 7), ("nightly", 0)):
        job(world, event=event, pr=pull, ago=timedelta(days=7, minutes=1))
    assert ask(world, "crcr_summary", days=7) == []
    assert ask(world, "crcr_nightly_summary", days=7) == []
    assert ask(world, "crcr_backend_dashboard", **_PAGE) == []
    assert ask(world, "crcr_nightly_dashboard", repo="a/l2", days=7) == []
    assert ask(world, "crcr_success_rate", days=7, event_type="pull_request") == []
    assert ask(world, "crcr_backend_summary", repo="a/l2", days=7)[0]["total_jobs"] == 0
    assert len(ask(world, "crcr_summary", days=8)) == 1


@pytest.mark.row("DB07")
def test_a_job_that_still_runs_is_in_no_summary(world: World) -> None:
    job(world, None)
    assert ask(world, "crcr_summary", days=7) == []


@pytest.mark.row("DB08")
def test_the_average_wait_is_of_those_that_tell_one(world: World) -> None:
    for number, wait in enumerate((None, 10, 20)):
        job(world, queue_time=wait, job_name=f"j{number}")
    assert ask(world, "crcr_backend_summary", repo="a/l2", days=7)[0]["avg_queue_time_s"] == 15


@pytest.mark.row("DB09")
def test_one_timeout_of_twenty_is_red(world: World) -> None:
    """By the newer thresholds: from one in a hundred on a backend cannot be at L3."""
    for number in range(20):
        job(world, "timed_out" if number == 0 else "success", job_name=f"j{number}")
    (row,) = ask(world, "crcr_backend_summary", repo="a/l2", days=7)
    assert percent(row["timeout_rate"]) == "5.0 %"
    assert excess_tone(row["timeout_rate"]) is Tone.ERROR


@pytest.mark.row("DB10")
def test_three_jobs_numbered_alike_are_one_column(world: World) -> None:
    for name in ("shard-1", "shard-2", "shard-3", "shard-4", "a-1", "a-2"):
        job(world, job_name=name)
    columns = pull_request_matrix(ask(world, "crcr_backend_dashboard", **_PAGE)).columns
    assert [(column.label, column.grouped) for column in columns] == [("a-1", False), ("a-2", False), ("shard", True)]


@pytest.mark.row("DB11")
def test_a_group_shows_its_worst_member(world: World) -> None:
    for number, conclusion in enumerate(("success", "cancelled", "failure")):
        job(world, conclusion, job_name=f"shard-{number}")
    (line,) = pull_request_matrix(ask(world, "crcr_backend_dashboard", **_PAGE)).lines
    assert [cell.letter for cell in line.cells if cell] == ["X"]


@pytest.mark.row("DB12")
def test_a_second_attempt_on_an_old_commit_does_not_hide_the_newest(world: World) -> None:
    job(world, "failure", sha=S1, ago=timedelta(hours=3))
    job(world, "success", sha=S2, ago=timedelta(hours=2))
    job(world, "failure", sha=S1, ago=timedelta(hours=1), run_attempt=2)
    (line,) = pull_request_matrix(ask(world, "crcr_backend_dashboard", **_PAGE)).lines
    assert (line.sha, [cell.letter for cell in line.cells if cell]) == (S2, ["O"])
    assert [old.sha for old in line.history] == [S1]


@pytest.mark.row("DB13")
def test_two_workflows_with_one_job_name_are_two_columns(world: World) -> None:
    job(world, "success", name="CI")
    job(world, "failure", name="Nightly")
    matrix = pull_request_matrix(ask(world, "crcr_backend_dashboard", **_PAGE))
    assert [column.label for column in matrix.columns] == ["CI / build", "Nightly / build"]
    assert [cell.letter for cell in matrix.lines[0].cells if cell] == ["O", "X"]
    assert len(job_columns([("CI", "build"), ("CI", "test")])) == 2


@pytest.mark.row("DB14")
def test_a_page_has_fifty_pull_requests(world: World) -> None:
    for number in range(1, 52):
        job(world, pr=number, ago=timedelta(minutes=number))
    pages = [_pulls(world, page) for page in (1, 2)]
    assert pages == [(list(range(1, 51)), True), ([51], False)]


def _pulls(world: World, page: int) -> tuple[list[int], bool]:
    rows = ask(world, "crcr_backend_dashboard", repo="a/l2", days=7, **asked_for(page))
    matrix = pull_request_matrix(rows, page=page)
    return [line.pr_number for line in matrix.lines], matrix.has_next


@pytest.mark.row("DB15")
def test_all_nightly_rows_can_be_paged_through(world: World) -> None:
    """600 rows: the original shows 500 and does not say so."""
    for number in range(60):
        sha = f"{number:040x}"
        for name in range(10):
            job(world, event="nightly", pr=0, sha=sha, job_name=f"j-{name}", ago=timedelta(minutes=number))
    seen: list[str] = []
    for page in (1, 2):
        rows = ask(world, "crcr_nightly_dashboard", repo="a/l2", days=7, **asked_for(page))
        matrix = scheduled_matrix(rows, page=page)
        assert matrix.has_next == (page == 1)
        seen += [line.sha for line in matrix.lines]
        assert all(len(cell.rows) == 10 for line in matrix.lines for cell in line.cells if cell)
    assert seen == [f"{number:040x}" for number in range(60)]
    assert len(ask(world, "crcr_nightly_dashboard", repo="a/l2", days=7)) == 600


@pytest.mark.row("DB16")
def test_a_nightly_with_an_unfinished_job_does_not_pass(world: World) -> None:
    job(world, event="nightly", pr=0, repo=PROBE)
    job(world, None, event="nightly", pr=0, repo=PROBE, job_name="b")
    rows = ask(world, "crcr_nightly_dashboard", repo=PROBE, days=14)
    assert passed_runs(rows) == {f"sha:{S1}": False}
    assert nightly_health(rows) is Health.DEGRADED


@pytest.mark.row("DB17")
def test_a_pull_request_is_judged_by_its_newest_commit(world: World) -> None:
    job(world, "failure", sha=S1, ago=timedelta(hours=2))
    job(world, "success", sha=S2)
    (box,) = backend_boxes(ask(world, "crcr_pr_results", pr=7))
    assert (box.tone, box.newest.sha) == (Tone.SUCCESS, S2)
    assert [(old.sha, old.jobs[0]["conclusion"]) for old in box.history] == [(S1, "failure")]


@pytest.mark.row("DB18")
def test_a_badge_shows_the_level(world: World) -> None:
    job(world, repo="a/l4", level="L4")
    (box,) = backend_boxes(ask(world, "crcr_pr_results", pr=7))
    assert (box.repo, box.level) == ("a/l4", "L4")


@pytest.mark.row("DB19")
def test_periodic_rows_have_a_tab_and_a_page(world: World) -> None:
    job(world, event="periodic", pr=0)
    (row,) = ask(world, "crcr_nightly_summary", days=7, event_type="periodic")
    assert (row["repo"], row["successes"]) == ("a/l2", 1)
    rows = ask(world, "crcr_nightly_dashboard", repo="a/l2", days=7, event_type="periodic")
    assert len(scheduled_matrix(rows).lines) == 1
    assert ask(world, "crcr_nightly_summary", days=7) == []


@pytest.mark.row("DB20")
def test_a_nightly_backend_that_is_silent_for_36_hours_is_stale(world: World) -> None:
    job(world, event="nightly", pr=0, ago=timedelta(hours=35))
    assert ask(world, "crcr_nightly_summary", days=7)[0]["stale"] is False
    world.clock.tick(3_600)
    (row,) = ask(world, "crcr_nightly_summary", days=7)
    assert (row["stale"], row["expected_every_s"], row["latest_sha"]) == (True, 86_400, S1)
