"""The page about selections leads with what they missed; every rate has its counts, every chart is a table too."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.quality_views import QualityView
from relay.web.quality_words import percent, share
from tests.relay.runs.test_audits import FIRST, SECOND, THIRD, advance, answer, audit, push
from tests.relay.stories import Story, planned, report_of
from tests.relay.web.test_pages import in_order, page
from tests.relay.worker_story import NOW, names

pytestmark = pytest.mark.both_setups


@pytest.fixture
def client(app: FastAPI, context: RelayContext) -> TestClient:
    """The service an hour after the stories."""
    app.state.relay = replace(context, now=lambda: NOW + timedelta(hours=1))
    return TestClient(app)


def missed_one(context: RelayContext) -> int:
    """An audit whose two broken tests were one caught, one missed."""
    push(context.store, FIRST, SECOND, planned=1, broken=1)
    audit_id = audit(context.store, total=3, broken=2)
    advance(context.store, audit_id)
    answer(context.store, broken=1)
    advance(context.store, audit_id)
    return audit_id


def saving(context: RelayContext, *, pr: int = 7) -> None:
    story = Story(context.store, now=NOW)
    story.open(pr=pr)
    plan = report_of([[planned(names(1)[0])]])
    story.select(plan.model_copy(update={"expected_seconds": 60.0, "seconds_saved": 240.0}))
    story.run_all({})


def test_each_device_has_figures_of_its_own(app: FastAPI, client: TestClient) -> None:
    context = app.state.relay
    assert not page(client, "/quality").having("nav", **{"aria-label": "Which device"})
    app.state.relay = replace(context, backends=(*context.backends, replace(context.backends[0], device="quartz")))
    found = page(client, "/quality?device=quartz&days=30")
    assert "device quartz" in found.text
    assert found.having("a", href="/quality?days=365&device=quartz")
    assert found.having("a", href="/quality?days=30")  # of the usual device


def test_without_figures_the_page_says_how_to_get_some(client: TestClient) -> None:
    found = page(client, "/quality")
    in_order(found.text, "No audit was settled in the last 90 days", "Recall", "none yet", "relay audit start")
    assert "No selection yet" in found.text
    assert not found.having("svg", role="img")


def test_a_miss_leads_and_every_rate_has_its_counts(client: TestClient, context: RelayContext) -> None:
    audit_id = missed_one(context)
    saving(context)
    found = page(client, "/quality")
    in_order(
        found.text,
        *("1 audit found 2 newly broken tests; selections had missed 1.", "Recall", "1 of 2 (50 %)"),
        *("False green", "1 of 2 (50 %)", "Left out", "80 % of 5 min 0 s", "Time saved", "4 min 0 s"),
    )
    assert found.having("a", href=f"/runs/{audit_id}")
    labels = [chart["aria-label"] for chart in found.having("svg", role="img")]
    assert labels[0] == "Recall of each audit, 2026-03-01 to 2026-03-01: between 50 % and 50 %, last 50 %"
    assert found.having("path", **{"class": "chart-bad"})
    assert len(labels) == 3


def test_audits_that_missed_nothing_are_good_news(client: TestClient, context: RelayContext) -> None:
    push(context.store, FIRST, SECOND, planned=1, broken=1)
    advance(context.store, audit(context.store, total=1, broken=1))
    good = "1 audit found 1 newly broken test; no selection is known to have missed one."
    assert good in page(client, "/quality").text
    push(context.store, SECOND, THIRD, planned=1)
    advance(context.store, audit(context.store, total=1, broken=0))
    assert "2 audits found 1 newly broken test" in page(client, "/quality").text


def test_what_nobody_can_explain_is_no_good_news(client: TestClient, context: RelayContext) -> None:
    push(context.store, FIRST, SECOND, planned=1)
    audit_id = audit(context.store, total=1, broken=1)
    while advance(context.store, audit_id):
        answer(context.store, broken=0)
    found = page(client, "/quality")
    in_order(found.text, "neutral", "no single change is known to be the cause", "none yet")
    assert not [chart for chart in found.having("svg", role="img") if "Recall" in (chart["aria-label"] or "")]


def test_how_far_back_is_in_the_address(client: TestClient, context: RelayContext) -> None:
    missed_one(context)
    found = page(client, "/quality?days=30")
    (current,) = [one for one in found.having("a", **{"aria-current": "page"}) if "days" in (one["href"] or "")]
    assert current["href"] == "/quality?days=30"


@pytest.mark.parametrize("query", ["?days=x", "?days=-1", "?days=99999999999", "?days=31", "?odd=1"])
def test_an_odd_address_is_still_a_page(client: TestClient, query: str) -> None:
    assert "last 90 days" in page(client, f"/quality{query}").text


def test_the_same_over_http(client: TestClient, context: RelayContext) -> None:
    missed_one(context)
    view = QualityView.model_validate(client.get("/api/v1/quality").json(), extra="ignore")
    assert [(one.caught, one.missed, one.recall) for one in view.audits] == [(1, 1, 0.5)]
    other = client.get("/api/v1/quality", params={"device": "other\0", "days": 1}).json()
    assert other["audits"] == []
    assert client.get("/api/v1/quality", params={"days": 0}).status_code == 422


def test_a_page_has_a_fixed_number_of_queries(client: TestClient, context: RelayContext) -> None:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    counts = []
    for pr, heads in enumerate(((FIRST, SECOND), (SECOND, THIRD)), start=1):
        push(context.store, *heads, planned=1, broken=1)
        advance(context.store, audit(context.store, total=2, broken=1))
        saving(context, pr=pr)
        event.listen(context.store.engine, "before_cursor_execute", note)
        page(client, "/quality")
        event.remove(context.store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
        seen.clear()
    assert counts[0] == counts[1] <= 9


def test_a_rate_is_never_rounded_to_nothing_or_all() -> None:
    assert (share(0, 0), share(0, 5), share(5, 5)) == ("none yet", "0 of 5 (0 %)", "5 of 5 (100 %)")
    assert (percent(0.00001), percent(0.99999), percent(0.8636)) == ("under 0.1 %", "over 99.9 %", "86.4 %")
