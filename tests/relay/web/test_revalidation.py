"""What a reader has already is not sent again; what it may not have is not kept by anybody else."""

from __future__ import annotations

import re

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from relay.settings import RelaySettings
from relay.web.revalidation import HELD_BYTES, knows
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_rows import Size
from tests.conftest import OpenApp
from tests.relay.hud.told import NOW
from tests.relay.web.readers import Readers


def test_an_answer_that_is_the_same_is_304(client: TestClient) -> None:
    """Without a body and without what describes one, with the headers of every answer."""
    first = client.get("/api/v1/runs")
    tag = first.headers["etag"]
    again = client.get("/api/v1/runs", headers={"If-None-Match": f'"other", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert "content-type" not in again.headers
    assert again.headers["x-request-id"]
    assert again.headers["cache-control"] == first.headers["cache-control"] == "no-cache"


def test_an_answer_that_has_changed_is_sent_whole(client: TestClient, operator_auth: dict[str, str]) -> None:
    tag = client.get("/api/v1/audits").headers["etag"]
    made = client.post("/api/v1/tokens", json={"name": "a job", "scope": "read"}, headers=operator_auth)
    assert "etag" not in made.headers
    tokens = client.get("/api/v1/tokens", headers={**operator_auth, "If-None-Match": tag})
    assert (tokens.status_code, tokens.headers["cache-control"]) == (200, "private, no-cache")
    assert tokens.json()["tokens"]


@pytest.mark.parametrize("path", ["/api/v1/runs/9", "/api/v1/nothing", "/api/v1/runs?limit=x"])
def test_a_refusal_has_no_tag(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"If-None-Match": "*"})
    assert answer.status_code >= 400
    assert "etag" not in answer.headers


def test_answers_for_some_are_not_for_shared_caches(
    settings: RelaySettings, open_app: OpenApp, operator_auth: dict[str, str]
) -> None:
    app = open_app(settings.model_copy(update={"read_access": "token"}))
    answer = TestClient(app).get("/api/v1/runs", headers=operator_auth)
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["vary"] == "Authorization, Cookie"
    refused = TestClient(app).get("/api/v1/runs", headers={"If-None-Match": answer.headers["etag"]})
    assert refused.status_code == 401


def test_what_is_large_goes_out_as_it_comes(app: FastAPI) -> None:
    """Whole, and unnamed."""
    pieces = [b"x" * (HELD_BYTES // 2), b"y" * HELD_BYTES, b"z"]
    app.add_api_route("/api/v1/large", lambda: StreamingResponse(iter(pieces)))
    answer = TestClient(app).get("/api/v1/large", headers={"If-None-Match": "*"})
    assert answer.content == b"".join(pieces)
    assert "etag" not in answer.headers


@pytest.mark.parametrize(
    ("given", "fits"),
    [("", False), ("*", True), ('"a"', True), ('W/"a"', True), ('"b", "a"', True), ('"ab"', False), ("a", False)],
)
def test_what_a_reader_names_is_compared_weakly(given: str, fits: bool) -> None:
    assert knows(given, '"a"') is fits


def test_every_answer_of_the_read_api_is_named(readers: Readers, operator_auth: dict[str, str]) -> None:
    """Whatever the route, and the description says so. What depends on the moment may differ the next time."""
    seed(readers.context.store, Size(runs=10, tests=3, considered=4, reports=20, deliveries=5), NOW)
    answered = set()
    for path, methods in readers.app.openapi()["paths"].items():
        if "get" not in methods or path.endswith("/events"):
            continue
        address = re.sub(r"\{\w+\}", "1", path)
        first = readers.client.get(address, headers=operator_auth)
        if first.status_code != 200:
            continue
        answered.add(path)
        assert first.headers["etag"], path
        assert {"ETag"} <= set(methods["get"]["responses"]["200"]["headers"]), path
        again = readers.client.get(address, headers={**operator_auth, "If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"") or again.headers["etag"] != first.headers["etag"], path
    assert {"/api/v1/runs/{run_id}/junit.xml", "/api/v1/runs", "/api/v1/trunk", "/api/crcr/allowlist"} <= answered
    assert len(answered) > 25
