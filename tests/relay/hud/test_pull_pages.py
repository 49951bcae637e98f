"""What all backends say of a pull request."""

from __future__ import annotations

from datetime import timedelta

from relay.hud.health import Health, relay_health
from relay.store.engine import Store
from tests.relay.hud.told import PROBE, ask, told


def test_a_pull_request_has_the_jobs_of_all_backends_by_name_and_newest_first(store: Store) -> None:
    told(store, repo="a/l4", level="L4")
    told(store, repo="a/l2", ago=timedelta(hours=3))
    told(store, None, repo="a/l2", ago=timedelta(hours=2), job_name="test")
    told(store, pr=8)
    told(store, pr=0)
    rows = ask(store, "crcr_pr_results", pr=7)
    assert [(row["downstream_repo"], row["job_name"]) for row in rows] == [
        *(("a/l2", "test"), ("a/l2", "build")),
        ("a/l4", "build"),
    ]
    assert rows[-1]["downstream_repo_level"] == "L4"
    assert ask(store, "crcr_pr_results", pr=0) == []


def test_the_main_grid_has_the_backends_that_are_shown_upstream(store: Store) -> None:
    for repo, level in {"a/l2": "L2", "a/l3": "L3", "a/l4": "L4", PROBE: "L3"}.items():
        told(store, repo=repo, level=level)
    told(store, "failure", repo="a/l3", level="L3", pr=9, failed_tests_detail=[{"name": "t"}])
    told(store, repo="a/l3", level="L3", pr=0)
    rows = ask(store, "crcr_hud_results", prNums=[9, 7, 0])
    assert [(row["pr_number"], row["downstream_repo"]) for row in rows] == [(7, "a/l3"), (7, "a/l4"), (9, "a/l3")]
    assert rows[-1]["failed_tests_json"] == '[{"name":"t"}]'
    assert ask(store, "crcr_hud_results", prNums=[]) == []


def test_the_probe_is_shown_by_its_last_pull_requests(store: Store) -> None:
    for number in (1, 2, 3):
        told(store, repo=PROBE, pr=number, ago=timedelta(hours=number))
        told(store, "failure", repo=PROBE, pr=number, ago=timedelta(hours=number), job_name="t-xfail")
    told(store, pr=4)
    rows = ask(store, "crcr_health_last_prs", count=2)
    assert [(row["pr_number"], row["successes"], row["total"], row["pass_rate"]) for row in rows] == [
        (1, 2, 2, 1.0),
        (2, 2, 2, 1.0),
    ]
    assert rows[0]["last_run"] == "2026-11-02T11:00:00.000000Z"


def test_a_job_of_the_probe_that_never_ends_is_no_health(store: Store) -> None:
    """Not before it is overdue."""
    told(store, repo=PROBE, ago=timedelta(minutes=400))
    told(store, None, repo=PROBE, ago=timedelta(minutes=370), job_name="slow")
    assert relay_health(ask(store, "crcr_health_last_prs", count=5)) is Health.HEALTHY
    told(store, None, repo=PROBE, ago=timedelta(minutes=376), job_name="stuck")
    (row,) = ask(store, "crcr_health_last_prs", count=5)
    assert (row["overdue"], row["total"], row["pass_rate"]) == (1, 1, 1.0)
    assert relay_health([row]) is Health.DEGRADED
