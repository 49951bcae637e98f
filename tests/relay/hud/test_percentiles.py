"""Percentiles are values that a job told, found by their place as every other quantile of ours."""

from __future__ import annotations

from datetime import timedelta

import pytest

from relay.hud.figures import quantile
from relay.hud.percentiles import Percentiles, Spread, job_percentiles
from relay.hud.tabs import Tab
from relay.store.engine import Store
from tests.relay.hud.told import NOW, told


def measured(store: Store, tab: Tab = Tab.PULL_REQUEST, days: int = 7) -> Percentiles:
    with store.reading() as session:
        return job_percentiles(session, repo="A/L2", tab=tab, days=days, now=NOW)


@pytest.mark.parametrize("jobs", [1, 2, 3, 19, 20, 21, 41])
def test_they_are_at_the_places_of_the_sorted_list(store: Store, jobs: int) -> None:
    waits = [float(7 * number % jobs) for number in range(jobs)]
    for number, wait in enumerate(waits):
        told(store, job_name=f"job{number}", queue_time=wait)
    wanted = Spread(jobs, quantile(sorted(waits), 0.5), quantile(sorted(waits), 0.95))
    assert measured(store).queue == wanted


def test_jobs_that_told_nothing_or_timed_out_do_not_count(store: Store) -> None:
    told(store, job_name="a", queue_time=5.0)
    told(store, "timed_out", job_name="b", queue_time=10.0, execution_time=99.0)
    told(store, None, job_name="c", queue_time=20.0, execution_time=99.0)
    found = measured(store)
    assert found.queue == Spread(2, 10.0, 10.0)
    assert found.execution == Spread()


def test_only_the_backend_the_tab_and_the_range_count(store: Store) -> None:
    told(store, job_name="a", execution_time=1.0)
    told(store, job_name="b", execution_time=2.0, repo="a/l3")
    told(store, job_name="c", execution_time=3.0, ago=timedelta(days=9))
    told(store, job_name="d", execution_time=4.0, pr=0, event="nightly")
    assert measured(store).execution == Spread(1, 1.0, 1.0)
    assert measured(store, days=30).execution.jobs == 2
    assert measured(store, Tab.NIGHTLY).execution == Spread(1, 4.0, 4.0)
    assert measured(store, Tab.PERIODIC).execution == Spread()
