"""The audit log as a page: for operators, newest first, filtered by its address, and never markup."""

from __future__ import annotations

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.access.actions import Actor, record_action
from relay.access.tokens import create_token
from relay.access_views import Scope, Via
from relay.context import RelayContext
from tests.relay.web.signing_in import sign_in
from tests.relay.worker_story import arrive

pytestmark = pytest.mark.both_setups

HOSTILE = "</td><script>alert(1)</script>{{ 7*7 }}"


def log(context: RelayContext, actor: str, action: str, *, run_id: int | None = None, times: int = 1) -> None:
    who = Actor(actor, None, Via.API, "request-0001")
    with context.store.writing() as session:
        for number in range(times):
            subject = f"run {run_id}" if run_id else f"thing {number}"
            record_action(session, who, action, context.now(), subject=subject, detail="because", run_id=run_id)


def rows(html: str) -> int:
    return html.partition("<tbody")[2].count("<tr ")


def test_it_is_for_operators(client: TestClient, context: RelayContext) -> None:
    answer = client.get("/audit-log", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Faudit-log")
    with context.store.writing() as session:
        new = create_token(session, "reader", Scope.READ, context.now(), expires_at=None, created_by="me")
    sign_in(client, new.token)
    assert client.get("/audit-log").status_code == 403


def test_an_action_is_told_with_who_what_and_when(client: TestClient, context: RelayContext) -> None:
    run_id = arrive(context.store)
    log(context, "nightly job", "run.cancel", run_id=run_id)
    sign_in(client)
    page = client.get("/audit-log?run=1").text
    assert rows(page) == 1
    for part in ("nightly job", "cancelled", f'href="/runs/{run_id}"', "because", "by api", "request-0001", "<time "):
        assert part in page


def test_hostile_names_stay_text(client: TestClient, context: RelayContext) -> None:
    log(context, HOSTILE, HOSTILE[:60])
    sign_in(client)
    for page in (client.get("/audit-log").text, client.get("/audit-log", params={"actor": HOSTILE}).text):
        assert "<script>alert" not in page
        assert ">49" not in page


def test_filters_stand_in_the_address(client: TestClient, context: RelayContext) -> None:
    log(context, "me", "run.cancel", times=2)
    log(context, "you", "run.rerun", times=3)
    sign_in(client)
    assert rows(client.get("/audit-log").text) == 6
    assert rows(client.get("/audit-log?actor=me").text) == 2
    page = client.get("/audit-log?actor=you&action=run.rerun").text
    assert rows(page) == 3
    assert '<option value="run.rerun" selected>' in page
    assert "No action fits." in client.get("/audit-log?actor=me&action=run.rerun").text


@pytest.mark.parametrize("query", ["action=odd", "run=x", "run=99999999999999", "before=-1", "actor=%00"])
def test_odd_values_in_the_address_are_taken_as_not_given(client: TestClient, query: str) -> None:
    sign_in(client)
    page = client.get(f"/audit-log?{query}")
    assert (page.status_code, rows(page.text)) == (200, 1)


def test_the_list_goes_on_with_older_ones(client: TestClient, context: RelayContext) -> None:
    """By key, with the filter kept."""
    log(context, "me", "run.rerun", times=60)
    sign_in(client)
    first = client.get("/audit-log?actor=me").text
    older = re.search(r'rel="next" href="([^"]+)"', first)
    assert older is not None
    second = client.get(older[1].replace("&amp;", "&")).text
    assert (rows(first), rows(second)) == (50, 10)
    assert "thing 9" in second
    assert 'rel="next"' not in second


def test_the_page_costs_two_queries(client: TestClient, context: RelayContext) -> None:
    """Who asks, and the actions, however many."""
    sign_in(client)
    asked: list[str] = []
    event.listen(context.store.engine, "before_cursor_execute", lambda _c, _k, statement, *_: asked.append(statement))
    for times in (1, 40):
        log(context, "me", "run.rerun", times=times)
        asked.clear()
        client.get("/audit-log")
        assert len([statement for statement in asked if statement.startswith("SELECT")]) == 2
