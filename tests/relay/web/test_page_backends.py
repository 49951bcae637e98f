"""The page of all backends: by level, worst first, with counts beside every rate, and nobody forgotten."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from relay.store.crcr_models import Demotion
from tests.relay.hud.told import NOW, PROBE, told
from tests.relay.web.readers import Readers, statements
from tests.relay.web.test_pages import HOSTILE, Outline, in_order, page


def jobs(readers: Readers, repo: str, level: str, *conclusions: str, **report: Any) -> None:
    """One finished job of its own for each conclusion."""
    for number, conclusion in enumerate(conclusions):
        more: dict[str, Any] = {"repo": repo, "level": level, "job_name": f"job{number}"} | report
        told(readers.context.store, conclusion, **more)


def test_backends_stand_by_level_with_rates_and_counts(readers: Readers) -> None:
    jobs(readers, "a/l4", "L4", "success", "failure", "timed_out", "cancelled")
    jobs(readers, "a/l3", "L3", *["success"] * 20)
    found = page(readers.client, "/backends")
    in_order(found.text, "Registered backends", "5", "1 at L4, 1 at L3, 2 at L2, 1 at L1", "87.5 % (21 of 24)")
    in_order(found.text, "L4", "a/l4", "poor", "25.0 % (1 of 4)", "33.3 % (1 of 3) without cancelled and skipped jobs")
    in_order(found.text, "L3", "a/l3", "good", "100.0 % (20 of 20)", "L2", "a/l2", "no data", "L1", "a/l1")
    assert found.having("a", href="/backends/a/l4")
    assert not found.having("a", href="/backends/a/l2")
    assert found.having("a", href="https://github.com/a/l1")


def test_within_a_level_the_worst_comes_first_and_silence_last(readers: Readers) -> None:
    jobs(readers, "b/fine", "L2", "success")
    jobs(readers, "a/l2", "L2", "failure")
    in_order(page(readers.client, "/backends").text, "a/l2", "0.0 % (0 of 1)", "b/fine", "not listed", "a/quiet")


def test_what_a_level_is_measured_by_is_told_beside_the_name(readers: Readers) -> None:
    jobs(readers, "a/l3", "L3", "failure")
    with readers.context.store.writing() as session:
        session.add(Demotion(repo_key="a/l3", repo="a/l3", pr_number=12, since=NOW))
    in_order(page(readers.client, "/backends").text, "a/l3", "lowering proposed", "below L3", "a/l2", "no figures")


def test_the_nightly_tab_marks_who_should_have_reported(readers: Readers) -> None:
    jobs(readers, "a/l2", "L2", "success", event="nightly", pr=0, ago=timedelta(hours=40))
    jobs(readers, "a/l3", "L3", "success", event="nightly", pr=0)
    found = page(readers.client, "/backends?event=nightly")
    in_order(found.text, "a/l3", "100.0 % (1 of 1)", "a/l2", "stale", "a/quiet", "no data")
    assert "stale" not in found.text.split("a/l2")[0]
    assert "a/l2" not in page(readers.client, "/backends?event=periodic").text


def test_periodic_runs_have_a_tab_of_their_own(readers: Readers) -> None:
    jobs(readers, "a/l2", "L2", "success", event="periodic", pr=0)
    found = page(readers.client, "/backends?event=periodic")
    in_order(found.text, "a/l2", "100.0 % (1 of 1)")
    assert "a/quiet" not in found.text


def test_a_range_leaves_older_jobs_out_and_stays_in_the_links(readers: Readers) -> None:
    jobs(readers, "a/l2", "L2", "success", ago=timedelta(days=3))
    assert "(1 of 1)" in page(readers.client, "/backends").text
    found = page(readers.client, "/backends?days=1")
    assert "(1 of 1)" not in found.text
    assert found.having("a", href="/backends?event=nightly&days=1")
    assert found.having("a", href="/backends?days=1", **{"aria-current": "page"})


@pytest.mark.parametrize("query", ["?days=x&event=odd", "?days=9999999999999", "?event=push", "?days=-1"])
def test_an_odd_address_is_still_the_usual_page(readers: Readers, query: str) -> None:
    jobs(readers, "a/l2", "L2", "success", ago=timedelta(days=3))
    assert "(1 of 1)" in page(readers.client, f"/backends{query}").text


def test_the_probe_tells_of_the_relay_and_of_no_backend(readers: Readers) -> None:
    jobs(readers, PROBE, "L2", "success")
    in_order(page(readers.client, "/backends").text, "Relay, pull requests", "healthy", "Jobs of the probe", "0 not as")
    jobs(readers, PROBE, "L2", "failure", run_id="101")
    found = page(readers.client, "/backends")
    in_order(found.text, "Relay, pull requests", "degraded")
    assert not found.having("a", href=f"/backends/{PROBE}")


def test_a_bad_allowlist_is_told_and_the_last_good_one_used(readers: Readers) -> None:
    readers.allowlist.problem = "line 3 is no repository"
    in_order(page(readers.client, "/backends").text, "line 3 is no repository. The last good one", "a/l4")


def test_without_an_allowlist_who_reports_is_shown(readers: Readers) -> None:
    readers.allowlist.text = None
    jobs(readers, "a/l2", "L3", "success")
    in_order(page(readers.client, "/backends").text, "RELAY_ALLOWLIST_URL", "L3", "a/l2", "not listed")


def test_a_relay_without_the_protocol_says_what_to_set(client: TestClient) -> None:
    in_order(page(client, "/backends").text, "No backend yet", "RELAY_ALLOWLIST_URL")


def test_names_are_never_markup(readers: Readers) -> None:
    jobs(readers, HOSTILE, HOSTILE, "success")
    readers.allowlist.problem = HOSTILE
    found = page(readers.client, "/backends")
    assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
    assert not found.having("img")
    assert found.text.count(HOSTILE) >= 2
    assert all("style" not in attributes for _, attributes in found.elements)


def test_many_backends_cost_no_more_queries_than_one(readers: Readers) -> None:
    counts = []
    for number in range(2):
        for name in range(number * 10 + 1):
            jobs(readers, f"b/x{number}{name}", "L2", "success", delivery=f"{number}-{name}")
        with statements(readers.context.store.engine) as seen:
            Outline(readers.client.get("/backends").text)
        counts.append(len(seen))
    assert counts[0] == counts[1]
    assert counts[0] < 20


@pytest.mark.parametrize(
    ("path", "twin"),
    [
        ("/backends?days=30", "/api/v1/backends?event=pull_request&days=30"),
        ("/backends/a/l2?event=nightly", "/api/v1/backends/a/l2?event=nightly&days=7"),
        ("/deliveries", "/api/v1/outbox"),
        ("/deliveries/inbox", "/api/v1/inbox"),
    ],
)
def test_a_page_leads_to_the_same_as_json(readers: Readers, path: str, twin: str) -> None:
    jobs(readers, "a/l2", "L2", "success")
    assert page(readers.client, path).having("a", href=twin)
    assert readers.client.get(twin).status_code == 200
