"""All backends at once: what counts, and what does not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from relay.store.engine import Store
from tests.relay.hud.told import NOW, PROBE, ask, told

_PULLS = ("crcr_summary", {"days": 7})
_NIGHTLY = ("crcr_nightly_summary", {"days": 7})


def test_a_pass_rate_is_of_all_finished_jobs_and_beside_it_of_those_with_a_verdict(store: Store) -> None:
    for number, conclusion in enumerate(["success"] * 8 + ["failure", "cancelled"]):
        told(store, conclusion, job_name=f"j{number}")
    told(store, None, job_name="running")
    (row,) = ask(store, "crcr_summary", days=7)
    assert (row["successes"], row["failures"], row["total"], row["pass_rate"]) == (8, 1, 10, 0.8)
    assert (row["judged"], row["judged_pass_rate"]) == (9, pytest.approx(8 / 9))


def test_a_summary_has_the_columns_that_readers_know(store: Store) -> None:
    told(store, level="L3", ago=timedelta(hours=2), took=timedelta(seconds=100))
    told(store, level="L4", ago=timedelta(hours=1), took=timedelta(seconds=50), job_name="b")
    (row,) = ask(store, "crcr_summary", days=7)
    known = {"repo": "a/l2", "downstream_repo_level": "L4", "successes": 2, "failures": 0, "timed_out": 0, "total": 2}
    assert known.items() <= row.items()
    assert (row["avg_duration_s"], row["last_run"]) == (75.0, "2026-11-02T11:00:00.000000Z")


@pytest.mark.parametrize(
    ("job", "conclusion", "counts"),
    [
        ("t-xfail", "failure", (1, 0, 0)),
        ("t-XFAIL", "failure", (1, 0, 0)),
        ("t-xcancel", "cancelled", (1, 0, 0)),
        ("t-xtimeout", "timed_out", (1, 0, 0)),
        ("t-xfail", "timed_out", (0, 0, 1)),
        ("t-xtimeout", "failure", (0, 1, 0)),
        ("t", "failure", (0, 1, 0)),
    ],
)
def test_the_probe_is_judged_by_what_its_jobs_are_meant_to_do(
    store: Store, job: str, conclusion: str, counts: tuple[int, int, int]
) -> None:
    """In every figure that knows the rule; another backend's job of the same name is not excused."""
    for repo in (PROBE, "a/other"):
        told(store, conclusion, job_name=job, repo=repo)
    rows = {row["repo"]: row for row in ask(store, "crcr_summary", days=7)}
    charted = {row["repo"]: row for row in ask(store, "crcr_success_rate", days=7, event_type="pull_request")}
    (carded,) = ask(store, "crcr_backend_summary", repo=PROBE, days=7)
    for row in (rows[PROBE], charted[PROBE], carded):
        assert (row["successes"], row["failures"], row["timed_out"]) == counts
    assert rows["a/other"]["successes"] == 0


@pytest.mark.parametrize(("query", "event"), [(_PULLS, "pull_request"), (_NIGHTLY, "nightly")])
@pytest.mark.parametrize(
    ("job", "listed"),
    [
        ({"ago": timedelta(days=6, hours=23)}, True),
        ({"ago": timedelta(days=7, hours=1)}, False),
        ({"conclusion": None}, False),
        ({"started_at": ...}, True),
        ({"started_at": ..., "took": None}, True),
    ],
)
def test_jobs_are_listed_by_the_best_known_start(
    store: Store, query: tuple[str, dict[str, Any]], event: str, job: dict[str, Any], listed: bool
) -> None:
    """A job whose start was never told is listed, one that still runs is not."""
    told(store, **({"event": event, "pr": 7 if event == "pull_request" else 0} | job))
    assert len(ask(store, query[0], **query[1])) == listed


@pytest.mark.parametrize(
    ("event", "pr", "seen"),
    [
        ("pull_request", 7, {"pulls"}),
        ("push", 7, {"pulls"}),
        ("pull_request", 0, set()),
        ("nightly", 0, {"nightly"}),
        ("nightly", 7, {"nightly"}),
        ("periodic", 0, {"periodic"}),
    ],
)
def test_each_event_has_its_tab(store: Store, event: str, pr: int, seen: set[str]) -> None:
    """A self-report that echoes a pull request is none of its results."""
    told(store, event=event, pr=pr)
    tabs = {
        "pulls": ask(store, "crcr_summary", days=7),
        "nightly": ask(store, "crcr_nightly_summary", days=7),
        "periodic": ask(store, "crcr_nightly_summary", days=7, event_type="periodic"),
    }
    assert {tab for tab, rows in tabs.items() if rows} == seen
    assert len(ask(store, "crcr_success_rate", days=7, event_type=event)) == 1


def test_backends_are_in_the_order_of_their_pass_rates(store: Store) -> None:
    for repo, conclusions in {"a/good": ["success"], "a/half": ["success", "failure"], "a/bad": ["failure"]}.items():
        for number, conclusion in enumerate(conclusions):
            told(store, conclusion, repo=repo, job_name=f"j{number}")
    assert [row["repo"] for row in ask(store, "crcr_summary", days=7)] == ["a/bad", "a/half", "a/good"]


def test_one_backend_in_two_spellings_is_one(store: Store) -> None:
    told(store, repo="A/L2", ago=timedelta(hours=2))
    told(store, repo="a/l2", job_name="b")
    assert [(row["repo"], row["total"]) for row in ask(store, "crcr_summary", days=7)] == [("a/l2", 2)]
    assert len(ask(store, "crcr_success_rate", days=7, event_type="pull_request")) == 1
    assert ask(store, "crcr_backend_summary", days=7, repo="a/L2")[0]["total_jobs"] == 2
    assert len(ask(store, "crcr_backend_dashboard", days=7, repo="a/L2")) == 2


@pytest.mark.parametrize(
    ("event", "hours", "stale", "expected"),
    [("nightly", 35, False, 86_400), ("nightly", 36, True, 86_400), ("periodic", 120, False, None)],
)
def test_a_backend_that_stopped_reporting_is_stale(
    store: Store, event: str, hours: int, stale: bool, expected: int | None
) -> None:
    told(store, event=event, pr=0, ago=timedelta(hours=hours))
    (row,) = ask(store, "crcr_nightly_summary", days=7, event_type=event)
    assert (row["stale"], row["expected_every_s"]) == (stale, expected)
    assert row["latest_sha"] == "a" * 40


def test_the_newest_job_is_the_one_that_started_last_whenever_it_was_reported(store: Store) -> None:
    for ago, sha, level in ((2, "b" * 40, "L3"), (1, "c" * 40, "L4"), (3, "d" * 40, "L2")):
        told(store, event="nightly", pr=0, sha=sha, level=level, ago=timedelta(hours=ago))
    (row,) = ask(store, "crcr_nightly_summary", days=7)
    assert (row["latest_sha"], row["downstream_repo_level"], row["total"]) == ("c" * 40, "L4", 3)


def test_clocks_that_disagree_make_no_job_shorter_than_nothing(store: Store) -> None:
    """Neither in a row nor in a mean, and such a run tells no time from end to end."""
    told(store, took=-timedelta(hours=1), queue_time=5)
    told(store, took=timedelta(minutes=1), job_name="b", run_id="2")
    assert ask(store, "crcr_summary", days=7)[0]["avg_duration_s"] == 30
    cells = ask(store, "crcr_backend_dashboard", repo="a/l2", days=7, per_page=50, offset=0)
    assert sorted(cell["duration_seconds"] for cell in cells) == [0, 60]
    assert ask(store, "crcr_backend_summary", repo="a/l2", days=7)[0]["median_e2e_time_s"] is None


def test_a_chart_goes_by_days_in_utc(store: Store) -> None:
    midnight = NOW.replace(hour=0)
    told(store, ago=NOW - midnight + timedelta(seconds=1), conclusion="failure")
    told(store, ago=NOW - midnight, job_name="b")
    rows = ask(store, "crcr_success_rate", days=7, event_type="pull_request")
    assert [(row["day"], row["repo"], row["pass_rate"], row["total"]) for row in rows] == [
        ("2026-11-01", "a/l2", 0.0, 1),
        ("2026-11-02", "a/l2", 1.0, 1),
    ]


def test_nothing_reported_is_an_empty_list(store: Store) -> None:
    for query in ("crcr_summary", "crcr_nightly_summary"):
        assert ask(store, query, days=7) == []
