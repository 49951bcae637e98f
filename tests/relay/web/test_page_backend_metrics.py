"""The charts of all backends: together and one by one, each with its figures, in pages by name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.relay.hud.told import PROBE, told
from tests.relay.web.readers import Readers, statements
from tests.relay.web.test_pages import Outline, in_order, page

METRICS = "/backends/metrics"


def days(readers: Readers, repo: str, *conclusions: str, **report: Any) -> None:
    """A finished job on each of the last days, today's first."""
    for number, conclusion in enumerate(conclusions):
        job = f"build-{number}"
        told(readers.context.store, conclusion, repo=repo, job_name=job, ago=timedelta(days=number), **report)


def labels(found: Outline) -> list[str]:
    return [(drawn["aria-label"] or "").split(",")[0] for drawn in found.having("svg", role="img")]


def test_backends_are_drawn_together_and_one_by_one(readers: Readers) -> None:
    days(readers, "a/l2", "success", "failure", "success")
    days(readers, "B/other", "timed_out", "success")
    found = page(readers.client, METRICS)
    assert labels(found) == ["Pass rate by day", "Failed and timed-out jobs a day", "Finished jobs a day"] * 3
    in_order(
        found.text,
        *("Backends over time", "All together", "60.0 % (3 of 5) passed, 1 failed, 1 timed out"),
        *("a/l2", "66.7 % (2 of 3) passed", "The figures of 3 days", "B/other", "50.0 % (1 of 2) passed"),
    )
    assert found.having("a", href="/backends/a/l2")
    assert found.having("main", **{"data-poll": "300"})
    assert found.having("a", href="/backends")


def test_the_tab_and_the_range_are_in_the_address(readers: Readers) -> None:
    days(readers, "a/l2", "success", "success", event="nightly", pr=0)
    told(readers.context.store, "success", repo="a/l3", ago=timedelta(days=60))
    assert "a/l2" not in page(readers.client, METRICS).text
    nightly = page(readers.client, f"{METRICS}?event=nightly&days=7")
    assert nightly.having("a", href="/backends/a/l2?event=nightly")
    assert nightly.having("a", href=f"{METRICS}?days=7")
    assert nightly.having("a", href="/backends?event=nightly")
    assert "a/l3" not in page(readers.client, METRICS).text
    assert "a/l3" in page(readers.client, f"{METRICS}?days=90").text


@pytest.mark.parametrize("query", ["", "?days=5&event=odd", "?after=zzz", "?after=%00", "?days=90&event=periodic"])
def test_an_empty_page_says_so(readers: Readers, query: str) -> None:
    assert "Nothing to draw yet" in page(readers.client, METRICS + query).text


def test_a_single_day_is_told_in_words(readers: Readers) -> None:
    days(readers, "a/l2", "failure")
    found = page(readers.client, METRICS)
    in_order(found.text, "a/l2", "0.0 % (0 of 1) passed, 1 failed, 0 timed out", "Only one day")
    assert labels(found) == []


def test_the_probe_has_charts_of_its_own_and_is_not_in_the_sum(readers: Readers) -> None:
    days(readers, PROBE, "failure", "failure")
    days(readers, "a/l2", "success", "success")
    in_order(
        page(readers.client, METRICS).text, "All together", "100.0 % (2 of 2)", "without the relay's own probe", PROBE
    )


def test_many_backends_are_pages_by_name_and_cost_no_more_queries(readers: Readers) -> None:
    days(readers, "a/n00", "success", "success")
    with statements(readers.context.store.engine) as few:
        page(readers.client, METRICS)
    for number in range(1, 15):
        days(readers, f"a/N{number:02}", "success", "success")
    with statements(readers.context.store.engine) as many:
        first = page(readers.client, METRICS)
    assert len(many) == len(few) <= 3
    (more,) = first.having("a", rel="next")
    second = page(readers.client, more["href"] or "")
    assert ("a/N11" in first.text, "a/N12" in first.text) == (True, False)
    in_order(second.text, "a/N12", "a/N13", "a/N14", "first backends")
    assert "All together" not in second.text
    assert "No other backend" in page(readers.client, f"{METRICS}?after=zzz").text


def test_the_overview_leads_here(client: TestClient) -> None:
    assert page(client, "/backends").having("a", href=METRICS)
    assert page(client, "/backends?event=nightly").having("a", href=f"{METRICS}?event=nightly")
