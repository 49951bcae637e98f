"""The figures of scheduled runs, and the name that a backend goes by."""

from __future__ import annotations

from datetime import timedelta

from relay.hud.scheduled import ScheduledFigures, reported_name, scheduled_figures
from relay.hud.tabs import Tab
from relay.store.engine import Store
from tests.relay.hud.told import NOW, PROBE, told


def figures(store: Store, tab: Tab = Tab.NIGHTLY, repo: str = "a/l2") -> ScheduledFigures:
    with store.reading() as session:
        return scheduled_figures(session, repo=repo, tab=tab, days=7, now=NOW)


def test_jobs_and_commits_are_counted(store: Store) -> None:
    for number, (conclusion, sha) in enumerate((("success", "1"), ("failure", "1"), ("timed_out", "2"), (None, "3"))):
        ago = timedelta(hours=number + 1)
        told(store, conclusion, job_name=f"job{number}", sha=sha * 40, pr=0, event="nightly", ago=ago)
    told(store, "success", pr=7)
    assert figures(store) == ScheduledFigures(1, 1, 1, 3, 2, NOW - timedelta(hours=1))
    assert figures(store, Tab.PERIODIC) == ScheduledFigures(0, 0, 0, 0, 0, None)


def test_the_probes_meant_endings_are_no_rule_of_scheduled_runs(store: Store) -> None:
    told(store, "failure", job_name="x-xfail", repo=PROBE, pr=0, event="nightly")
    found = figures(store, repo=PROBE)
    assert (found.successes, found.failures) == (0, 1)


def test_a_backend_goes_by_its_newest_report(store: Store) -> None:
    told(store, repo="A/L2", level="L2", job_name="a", ago=timedelta(hours=9))
    told(store, repo="a/L2", level="L3", job_name="b", ago=timedelta(hours=1))
    with store.reading() as session:
        assert reported_name(session, "a/l2") == ("a/L2", "L3")
        assert reported_name(session, "a/none") is None
