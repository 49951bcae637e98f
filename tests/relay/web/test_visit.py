"""Every answer, whatever it is, has a request id and the headers that fence it in; every error of the API is a
problem document with the same id."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from relay.settings import RelaySettings
from relay.views import ApiError
from relay.web.visit import current_visit
from tests.conftest import OpenApp
from tests.relay.worker_story import arrive

STRICT = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
PATHS = (
    *("/", "/sign-in", "/static/relay.css", "/nothing", "/runs/77"),
    *("/api/v1/runs", "/api/v1/runs/77", "/api/v1/nothing", "/api/v1/tokens", "/api/v1/openapi.json"),
    *("/github/webhook", "/api/crcr/results", "/api/v1/fails", "/fails"),
)


@pytest.fixture
def failing(app: FastAPI) -> TestClient:
    """A client of an application with a bug on two of its paths."""

    def fail() -> None:
        raise ValueError("a bug")

    app.add_api_route("/api/v1/fails", fail)
    app.add_api_route("/fails", fail)
    return TestClient(app, raise_server_exceptions=False)


def policy(headers: Mapping[str, str]) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_is_fenced_in(failing: TestClient, path: str) -> None:
    """Also errors, files, redirects and bugs; nothing inline is ever allowed."""
    answer = failing.get(path)
    assert STRICT.items() <= dict(answer.headers).items()
    rules = policy(answer.headers)
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    for_programs = path.startswith(("/api/", "/github/"))
    assert rules["default-src"] == ("'none'" if for_programs else "'self'")
    assert len(answer.headers["x-request-id"]) == 16
    assert "strict-transport-security" not in answer.headers


def test_https_is_told_to_be_kept(settings: RelaySettings, open_app: OpenApp) -> None:
    app = open_app(settings.model_copy(update={"public_url": "https://relay.example"}))
    assert TestClient(app).get("/").headers["strict-transport-security"].startswith("max-age=")


def test_a_request_id_of_the_caller_is_kept(client: TestClient) -> None:
    answer = client.get("/api/v1/runs/77", headers={"X-Request-Id": "trace-0123.abc"})
    assert answer.headers["x-request-id"] == "trace-0123.abc"
    assert ApiError.model_validate_json(answer.text).request_id == "trace-0123.abc"


@pytest.mark.parametrize("odd", ["short", "x" * 65, "with space in it", "new\x7fline-0000", "<script>alert(1)"])
def test_what_is_no_request_id_is_replaced(client: TestClient, odd: str) -> None:
    """It goes into logs and pages."""
    answer = client.get("/api/v1/runs/77", headers={"X-Request-Id": odd})
    assert answer.headers["x-request-id"] != odd
    assert odd not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/runs/77", 404),
        ("GET", "/api/v1/nothing", 404),
        ("DELETE", "/api/v1/runs", 405),
        ("GET", "/api/v1/runs?limit=0", 422),
        ("POST", "/api/v1/runs/1/cancel", 401),
        ("GET", "/api/v1/fails", 500),
    ],
)
def test_errors_of_the_api_are_problem_documents(failing: TestClient, method: str, path: str, status: int) -> None:
    """With the fields they always had: code, message, hint."""
    answer = failing.request(method, path)
    error = ApiError.model_validate_json(answer.text)
    assert (answer.status_code, error.status) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert error.code
    assert error.message
    assert error.hint
    assert error.title
    assert error.type == "about:blank"
    assert error.request_id == answer.headers["x-request-id"]


def test_a_body_over_the_cap_is_a_problem_as_well(client: TestClient, operator_auth: dict[str, str]) -> None:
    answer = client.post("/api/v1/runs/1/rerun", content=b"x" * 70_000, headers=operator_auth)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert ApiError.model_validate_json(answer.text).request_id == answer.headers["x-request-id"]


def test_a_page_that_is_not_there_says_so_as_a_page(client: TestClient) -> None:
    """With the number to ask about."""
    answer = client.get("/nothing")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "There is no such page." in answer.text
    assert answer.headers["x-request-id"] in answer.text


def test_requests_do_not_share_a_visit(client: TestClient) -> None:
    assert client.get("/").headers["x-request-id"] != client.get("/").headers["x-request-id"]
    assert current_visit().request_id == ""


def test_the_audit_log_has_the_request_id(app: FastAPI, client: TestClient, operator_auth: dict[str, str]) -> None:
    run_id = arrive(app.state.relay.store)
    cancelled = client.post(f"/api/v1/runs/{run_id}/cancel", headers=operator_auth)
    (action,) = client.get("/api/v1/actions", headers=operator_auth).json()["actions"]
    assert action["request_id"] == cancelled.headers["x-request-id"]
