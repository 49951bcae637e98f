"""Days are those of UTC by the start of a job, and count as every other figure does."""

from __future__ import annotations

from datetime import timedelta

from relay.hud.daily import DayCounts, daily_counts
from relay.hud.tabs import Tab
from relay.store.engine import Store
from tests.relay.hud.told import NOW, PROBE, told

TODAY = NOW.date()


def counts(store: Store, tab: Tab = Tab.PULL_REQUEST, days: int = 7, repo: str = "a/l2") -> tuple[DayCounts, ...]:
    with store.reading() as session:
        return daily_counts(session, repo=repo, tab=tab, days=days, now=NOW)


def test_jobs_are_counted_on_the_day_of_their_start(store: Store) -> None:
    told(store, "success", job_name="a", ago=timedelta(hours=11, minutes=59))
    told(store, "timed_out", job_name="b", ago=timedelta(hours=1))
    told(store, "failure", job_name="c", ago=timedelta(hours=12, minutes=1))
    told(store, None, job_name="d", ago=timedelta(hours=1))
    yesterday = DayCounts(TODAY - timedelta(days=1), 0, 1, 0, 1)
    assert counts(store) == (yesterday, DayCounts(TODAY, 1, 0, 1, 2))


def test_only_the_backend_the_tab_and_the_range_count(store: Store) -> None:
    told(store, job_name="a", ago=timedelta(days=8))
    told(store, job_name="b", repo="a/l3")
    told(store, job_name="c", pr=0, event="periodic")
    assert counts(store) == ()
    assert [one.total for one in counts(store, days=30)] == [1]
    assert [one.total for one in counts(store, Tab.PERIODIC)] == [1]


def test_a_probes_meant_failure_is_a_success_for_pull_requests(store: Store) -> None:
    told(store, "failure", job_name="x-xfail", repo=PROBE)
    assert counts(store, repo=PROBE) == (DayCounts(TODAY, 1, 0, 0, 1),)
