"""The page for when pages cannot be made stands alone and trusts no text."""

from __future__ import annotations

import re

from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from relay.context import RelayContext
from relay.web.failure_page import failure_page
from tests.relay.web.test_pages import HOSTILE, Outline, in_order


def body_of(message: str, hint: str) -> str:
    return bytes(failure_page(message, hint, 500).body).decode()


def test_it_tells_what_happened_and_what_to_do() -> None:
    found = Outline(body_of("The relay failed.", "Its log has the cause."))
    in_order(found.text, "The relay failed. · relay", "The relay failed.", "Its log has the cause.", "Try again")
    assert found.having("a", href="")


def test_it_is_no_place_for_markup() -> None:
    found = Outline(body_of(HOSTILE, HOSTILE))
    assert not found.having("script")
    assert not found.having("img")
    assert HOSTILE in found.text


def test_a_person_gets_it_where_a_page_was_wanted(client: TestClient, context: RelayContext) -> None:
    with context.store.writing() as session:
        session.execute(text("ALTER TABLE runs RENAME TO moved_runs"))
    answer = client.get("/")
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["retry-after"] == "2"
    assert "content-security-policy" in answer.headers
    in_order(Outline(answer.text).text, "The record cannot be reached just now.", "relay doctor")
    assert client.get("/api/v1/runs").headers["content-type"] == "application/problem+json"


def test_a_bug_is_told_as_one_without_its_words(app: FastAPI) -> None:
    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError("secret")

    answer = TestClient(app, raise_server_exceptions=False).get("/broken")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert re.search(r"<h1>The relay failed on this request.</h1>", answer.text)
    assert "ZeroDivisionError" in answer.text
