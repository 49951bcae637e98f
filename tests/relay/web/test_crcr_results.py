"""The door for forwarded results, through the real application."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import event, select

from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.store.crcr_models import CrcrResult
from tests.conftest import OpenApp
from tests.relay.hud.reports import envelope

_KEY = "key-of-the-results-for-tests"
_HEADERS = {"x-hud-internal-bot": _KEY}
_PATH = "/api/crcr/results"
_VERDICT = {"schema_version": 1, "category": "infra", "confidence": "low", "summary": "The runner died."}


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    return settings.model_copy(update={"hud_intake_key": SecretStr(_KEY)})


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, raise_server_exceptions=False)


def _rows(context: RelayContext) -> list[CrcrResult]:
    with context.store.reading() as session:
        return list(session.scalars(select(CrcrResult)))


def test_a_result_is_stored_and_its_row_is_named(client: TestClient, context: RelayContext) -> None:
    answer = client.post(_PATH, json=envelope("completed", conclusion="success"), headers=_HEADERS)
    key = "a/l2/d1/CI/build/900"
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "status": "completed", "dynamoKey": key})
    (row,) = _rows(context)
    assert (row.dynamo_key, row.conclusion) == (key, "success")


@pytest.mark.parametrize("key", [None, "", "wrong", _KEY + "x", _KEY[:-1]])
def test_without_the_key_nothing_is_stored(client: TestClient, context: RelayContext, key: str | None) -> None:
    headers = {} if key is None else {"x-hud-internal-bot": key}
    answer = client.post(_PATH, json=envelope(), headers=headers)
    assert (answer.status_code, answer.json()) == (401, {"error": "Unauthorized"})
    assert _rows(context) == []


@pytest.mark.parametrize("key", ["", "None"])
def test_a_relay_that_has_no_key_is_open_to_nobody(settings: RelaySettings, open_app: OpenApp, key: str) -> None:
    app = open_app(settings.model_copy(update={"hud_intake_key": None}))
    answer = TestClient(app).post(_PATH, json=envelope(), headers={"x-hud-internal-bot": key})
    assert answer.status_code == 401


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_only_posting_is_allowed(client: TestClient, method: str) -> None:
    answer = client.request(method, _PATH)
    assert (answer.status_code, answer.json()) == (405, {"error": "Method not allowed"})


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"[]", b"null", b"{}", b'{"trusted": {}}'])
def test_a_body_of_another_form_is_refused(client: TestClient, context: RelayContext, body: bytes) -> None:
    answer = client.post(_PATH, content=body, headers=_HEADERS)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}
    assert _rows(context) == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_the_body_is_json_by_any_name(client: TestClient, content_type: str) -> None:
    answer = client.post(_PATH, content=json.dumps(envelope()), headers=_HEADERS | {"Content-Type": content_type})
    assert answer.status_code == 200


@pytest.mark.parametrize(("size", "status"), [(1, 200), (2 * 1024 * 1024, 200), (2 * 1024 * 1024 + 1, 413)])
def test_a_body_may_have_two_mebibytes(client: TestClient, size: int, status: int) -> None:
    body = json.dumps(envelope()).encode()
    answer = client.post(_PATH, content=body.ljust(size, b" "), headers=_HEADERS)
    assert answer.status_code == status
    if status == 413:
        assert answer.json() == {"error": "Payload exceeds 2MB limit"}


@pytest.fixture
def _broken_store(context: RelayContext) -> Iterator[None]:
    """A store that takes no row of results."""

    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "INSERT INTO crcr_results" in statement:
            raise context.store.engine.dialect.dbapi.OperationalError("disk full")  # type: ignore[union-attr]  # set once connected

    event.listen(context.store.engine, "before_cursor_execute", refuse)
    yield
    event.remove(context.store.engine, "before_cursor_execute", refuse)


@pytest.mark.usefixtures("_broken_store")
def test_a_store_that_fails_is_a_fault_of_ours(client: TestClient) -> None:
    """5xx, so that the relay that forwards tries again; the cause is not told."""
    answer = client.post(_PATH, json=envelope(), headers=_HEADERS)
    assert (answer.status_code, answer.json()) == (500, {"error": "Internal error writing to the results store"})


def test_a_verdict_is_kept_when_it_is_valid(client: TestClient, context: RelayContext) -> None:
    for verdict in (_VERDICT, {"category": "nonsense"}, ["no verdict"]):
        report = envelope("completed", triage_verdict=verdict)
        assert client.post(_PATH, json=report, headers=_HEADERS).status_code == 200
    (row,) = _rows(context)
    assert row.triage_verdict is not None
    assert row.triage_verdict["category"] == "infra"
