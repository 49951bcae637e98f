"""The figures by which a backend's level is judged."""

from __future__ import annotations

from datetime import timedelta

import pytest

from relay.hud.figures import level_figures, quantile
from relay.store.engine import Store
from tests.relay.hud.told import NOW, ask, told

_HOUR = 3_600


def test_times_are_averaged_over_the_jobs_that_tell_them(store: Store) -> None:
    for number, wait in enumerate((None, 10, 20)):
        told(store, queue_time=wait, execution_time=wait, job_name=f"j{number}")
    (row,) = ask(store, "crcr_backend_summary", repo="a/l2", days=7)
    assert (row["avg_queue_time_s"], row["avg_exec_time_s"], row["total_jobs"], row["total_prs"]) == (15.0, 15.0, 3, 1)


def test_a_timed_out_job_is_no_overrun(store: Store) -> None:
    told(store, "timed_out", execution_time=6 * _HOUR)
    told(store, "success", execution_time=3 * _HOUR + 1, job_name="slow")
    for number in range(3):
        told(store, "success", execution_time=3 * _HOUR, job_name=f"j{number}")
    (row,) = ask(store, "crcr_backend_summary", repo="a/l2", days=7)
    assert (row["timeout_rate"], row["overrun_rate"], row["max_exec_time_s"]) == (0.2, 0.25, 3 * _HOUR + 1)


def test_a_run_takes_from_its_dispatch_to_the_end_of_its_last_job(store: Store) -> None:
    """The longest wait of its jobs, and from the first start to the last end; runs that tell no wait are left out."""
    told(store, ago=timedelta(hours=3), took=timedelta(minutes=1), queue_time=30, pr=1, run_id="1")
    told(store, ago=timedelta(hours=2), took=timedelta(minutes=5), queue_time=90, pr=1, run_id="1", job_name="b")
    told(store, took=timedelta(minutes=2), queue_time=0, pr=2, run_id="2")
    told(store, took=timedelta(minutes=50), pr=3, run_id="3")
    (row,) = ask(store, "crcr_backend_summary", repo="a/l2", days=7)
    whole = _HOUR + 5 * 60 + 90
    assert (row["median_e2e_time_s"], row["p95_e2e_time_s"]) == (whole, whole)


def test_nothing_reported_is_one_row_of_zeros(store: Store) -> None:
    (row,) = ask(store, "crcr_backend_summary", repo="a/none", days=7)
    zeros = {"successes": 0, "failures": 0, "timed_out": 0, "total_jobs": 0, "total_prs": 0, "pass_rate": 0.0}
    assert zeros.items() <= row.items()
    assert row["timeout_rate"] == 0.0
    assert row["avg_queue_time_s"] is None


def test_a_level_counts_the_last_attempt_and_a_page_all_of_them(store: Store) -> None:
    told(store, "failure")
    told(store, "success", run_attempt=2)
    told(store, "failure", pr=0, job_name="push")
    with store.reading() as session:
        found = level_figures(session, ["a/l2"], days=7, now=NOW)["a/l2"]
    assert (found.total_jobs, found.pass_rate) == (1, 1.0)
    assert ask(store, "crcr_backend_summary", repo="a/l2", days=7)[0]["total_jobs"] == 2


def test_jobs_of_a_reporter_that_names_no_run_are_told_apart_by_their_deliveries(store: Store) -> None:
    for number in range(3):
        told(store, pr=number + 1, run_id=..., queue_time=number)
    with store.reading() as session:
        found = level_figures(session, ["a/l2"], days=7, now=NOW)["a/l2"]
    assert (found.total_jobs, found.median_e2e_time_s) == (3, 601.0)


@pytest.mark.parametrize(
    ("values", "level", "found"),
    [([], 0.5, None), ([1], 0.5, 1), ([1, 2], 0.5, 2), ([1, 2, 3], 0.5, 2), ([1, 2, 3], 0.95, 3), ([1, 2], 1.0, 2)],
)
def test_a_quantile_is_a_value_of_the_list(values: list[float], level: float, found: float | None) -> None:
    assert quantile(values, level) == found
