"""Backends for programs: the same figures as on the pages and in the original's queries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.relay.hud.told import PROBE, ask, told
from tests.relay.web.readers import Readers, statements

PATH = "/api/v1/backends"


def get(readers: Readers, path: str = "", **query: str | int) -> Any:
    answer = readers.client.get(f"{PATH}{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_every_backend_is_listed_by_level_with_the_queries_own_figures(readers: Readers) -> None:
    told(readers.context.store, "failure", job_name="a")
    told(readers.context.store, "cancelled", job_name="b")
    told(readers.context.store, "success", job_name="c", repo="b/other", level="L4")
    told(readers.context.store, "success", repo=PROBE)
    found = get(readers)
    assert [(one["repo"], one["level"], one["listed"]) for one in found["backends"]] == [
        ("b/other", "L4", False),
        ("a/l4", "L4", True),
        ("a/l3", "L3", True),
        ("a/l2", "L2", True),
        ("a/quiet", "L2", True),
        ("a/l1", "L1", True),
    ]
    mine = next(one for one in found["backends"] if one["repo"] == "a/l2")
    row = next(one for one in ask(readers.context.store, "crcr_summary", days=7) if one["repo"] == "a/l2")
    shared = ("successes", "failures", "total", "pass_rate", "judged", "judged_pass_rate", "avg_duration_s")
    assert {name: mine["summary"][name] for name in shared} == {name: row[name] for name in shared}
    assert mine["summary"]["stale"] is None
    assert mine["standing"]["criteria"][0] == {
        "criterion": "Pass rate",
        "measured": "0.0 %",
        "target": "> 90 %",
        "met": False,
    }


def test_a_scheduled_tab_tells_what_is_stale(readers: Readers) -> None:
    told(readers.context.store, event="nightly", pr=0, ago=timedelta(hours=40))
    found = get(readers, event="nightly", days=30)
    assert (found["event"], found["days"]) == ("nightly", 30)
    (mine,) = [one for one in found["backends"] if one["summary"]]
    assert (mine["repo"], mine["summary"]["stale"]) == ("a/l2", True)


@pytest.mark.parametrize("event", ["pull_request", "nightly", "periodic"])
def test_one_backend_has_counts_and_percentiles(readers: Readers, event: str) -> None:
    more: dict[str, Any] = {"queue_time": 0, "execution_time": 9} | ({} if event == "pull_request" else {"pr": 0})
    for job, conclusion in enumerate(("success", "failure", "timed_out")):
        told(readers.context.store, conclusion, job_name=f"j{job}", event=event, **more | {"queue_time": job})
    found = get(readers, "/A/l2", event=event)
    assert (found["repo"], found["level"], found["listed"]) == ("a/l2", "L2", True)
    assert found["counts"] == {
        "successes": 1,
        "failures": 1,
        "timed_out": 1,
        "total": 3,
        "pass_rate": pytest.approx(1 / 3),
        "judged": 3,
        "judged_pass_rate": pytest.approx(1 / 3),
    }
    assert found["queue"] == {"jobs": 3, "p50_s": 1.0, "p95_s": 2.0}
    assert found["execution"] == {"jobs": 2, "p50_s": 9.0, "p95_s": 9.0}


def test_a_bad_allowlist_is_told(readers: Readers) -> None:
    readers.allowlist.text = None
    assert "RELAY_ALLOWLIST_URL" in get(readers)["problem"]
    assert get(readers)["backends"] == []


def test_an_unknown_backend_is_404(readers: Readers) -> None:
    answer = readers.client.get(f"{PATH}/no/body")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("query", [{"event": "push"}, {"days": 0}, {"days": 91}, {"days": "x"}])
def test_a_wrong_question_is_422(readers: Readers, query: dict[str, str | int]) -> None:
    assert readers.client.get(PATH, params=query).status_code == 422


def test_many_backends_cost_no_more_queries_than_one(readers: Readers) -> None:
    counts = []
    for number in range(2):
        for name in range(number * 10 + 1):
            told(readers.context.store, repo=f"b/x{number}{name}", delivery=f"{number}-{name}")
        with statements(readers.context.store.engine) as seen:
            get(readers)
        counts.append(len(seen))
    assert counts[0] == counts[1]
