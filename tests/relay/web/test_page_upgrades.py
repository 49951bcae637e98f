"""The pages about upgrades: what is to be looked at comes first, narrowed by the address, whatever a report says."""

from __future__ import annotations

import dataclasses

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.upgrade.writing import report_json
from selector.upgrade.types import AreaSummary, UpgradeReport
from tests.relay.upgrade_story import upgrade_report, upgrade_text
from tests.relay.web.test_pages import Outline, in_order, page


@pytest.fixture
def number(client: TestClient, operator_auth: dict[str, str]) -> int:
    return published(client, operator_auth, upgrade_report(600))


def published(client: TestClient, auth: dict[str, str], report: UpgradeReport) -> int:
    answer = client.post("/api/v1/upgrades", content=report_json(report), headers=auth)
    assert answer.status_code == 201
    found = answer.json()["upgrade"]["id"]
    assert isinstance(found, int)
    return found


def links_in(outline: Outline, path: str) -> set[str]:
    found = (link.get("href") or "" for link in outline.having("a"))
    return {it.partition("#")[0] for it in found if it.startswith(path)}


def test_without_a_report_the_page_says_how_to_get_one(client: TestClient) -> None:
    in_order(page(client, "/upgrades").text, "No report is on record", "relay upgrade", "--publish")


def test_reports_are_listed_with_what_they_ask_for(client: TestClient, number: int) -> None:
    outline = page(client, "/upgrades")
    in_order(outline.text, "60 to assess", "v2.13.0 to v2.14.0", "60 must assess", "100 new")
    assert outline.having("a", href=f"/upgrades/{number}")


def test_a_report_says_what_to_look_at_first(client: TestClient, number: int) -> None:
    text = page(client, f"/upgrades/{number}").text
    in_order(
        text,
        *("60 to assess", "v2.13.0 to v2.14.0", "Markdown for an issue", "From every variant"),
        *("On both releases", "1 broken by upgrade", "60 must assess", "40 should assess", "make_tensor"),
        *("test_case_0", "body changed", "test_area.yaml:3", "diff", "before", "after", "of 60", "Operators"),
        *("nn.functional.op_2", "gained bfloat16", "In a model", "a model's words", "<now>"),
        *("may be wrong", "Notes", "odd_syntax.py"),
    )


def test_every_link_of_a_report_leads_to_a_page_that_shows_what_it_says(client: TestClient, number: int) -> None:
    """Tabs, causes and pages of tests, without a script."""
    path = f"/upgrades/{number}"
    found = links_in(page(client, path), f"{path}?")
    assert len(found) == 4 + 3 + 1
    for address in found:
        assert "test_case_" in page(client, address).text, address
    narrowed = page(client, f"{path}?duty=must&cause=make_tensor").text
    assert "Only make_tensor" in narrowed
    assert "freeze_rng_state" not in narrowed
    assert "No test of this kind matches" in page(client, f"{path}?q=nobody").text
    assert "83 % sure" in page(client, f"{path}?q=test_case_24").text


def test_odd_addresses_get_a_page(client: TestClient, number: int) -> None:
    for odd in ("duty=odd", "page=-1", "page=99999", "q=%00", "cause=%00", f"q={'x' * 3000}"):
        page(client, f"/upgrades/{number}?{odd}")
    for unknown in ("/upgrades/4711", "/upgrades/none"):
        answer = client.get(unknown)
        assert answer.status_code == 404
        assert "There is no upgrade report" in answer.text


def test_what_a_report_says_is_text(client: TestClient, operator_auth: dict[str, str]) -> None:
    """A report comes from anybody who may publish, and quotes strangers."""
    evil = "<script>alert(1)</script>"
    report = upgrade_report(12, base=evil, head='"><img src=x>')
    report = dataclasses.replace(report, notes=(evil,), summaries=(AreaSummary(evil, evil, evil),))
    number = published(client, operator_auth, report)
    for path in ("/upgrades", f"/upgrades/{number}"):
        outline = page(client, path)
        assert evil in outline.text
        assert len(outline.having("script")) == 1
        assert not outline.having("img")


def test_a_report_is_taken_along_as_a_file(client: TestClient, number: int) -> None:
    for kind, begin in (("md", "## `Upgrade v2.13.0"), ("html", "<!doctype html>"), ("json", '{"format"')):
        answer = client.get(f"/api/v1/upgrades/{number}/report.{kind}")
        assert answer.text.startswith(begin)
        assert f"upgrade-{number}.{kind}" in answer.headers["Content-Disposition"]


def test_a_page_takes_few_queries_however_long_the_report_is(
    client: TestClient, context: RelayContext, operator_auth: dict[str, str]
) -> None:
    asked: list[int] = []
    for tests in (12, 1_200):
        client.post("/api/v1/upgrades", content=upgrade_text(tests), headers=operator_auth)
        seen: list[str] = []
        listen = lambda *args, seen=seen: seen.append(args[2])  # noqa: E731 - SQLAlchemy wants its six arguments
        event.listen(context.store.engine, "before_cursor_execute", listen)
        page(client, f"/upgrades/{len(asked) + 1}")
        event.remove(context.store.engine, "before_cursor_execute", listen)
        asked.append(len(seen))
    assert asked[0] == asked[1] <= 5
