"""What every route refuses alike: methods that an address does not have, bodies that are no JSON, and values that only
look like what was asked for."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from relay.views import ApiError
from tests.conftest import WORKER_TOKEN

#: Bodies that read themselves, or that are another protocol's.
_OWN_BODIES = ("/github/", "/api/crcr/", "/api/v1/dispatches", "/api/v1/worker/triage/")
_NO_JSON = (b"\xff\xfe", b"{", b"[" * 100_000, b"\x00")


def _address(path: str) -> str:
    filled = path
    while "{" in filled:
        filled = f"{filled.partition('{')[0]}1{filled.partition('}')[2]}"
    return filled


def _posted(app: FastAPI) -> Iterator[tuple[str, Any]]:
    """Addresses that take a body of ours, with the example of one."""
    for path, methods in app.openapi()["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None and not path.startswith(_OWN_BODIES):
            yield path, body["example"]


def _token(path: str, operator_auth: Mapping[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {WORKER_TOKEN}"} if "/worker/" in path else dict(operator_auth)


def test_a_method_that_an_address_does_not_have_is_answered_with_those_it_has(app: FastAPI, client: TestClient) -> None:
    """All of them, also where several routes share the address."""
    for path, methods in app.openapi()["paths"].items():
        answer = client.request("OPTIONS", _address(path))
        assert answer.status_code == 405, path
        assert answer.headers["allow"].split(", ") == sorted(method.upper() for method in methods), path


def test_a_body_that_is_no_json_is_refused_with_what_to_do(
    app: FastAPI, client: TestClient, operator_auth: dict[str, str]
) -> None:
    for path, _ in _posted(app):
        for body in _NO_JSON:
            headers = {**_token(path, operator_auth), "Content-Type": "application/json"}
            answer = client.post(_address(path), content=body, headers=headers)
            assert answer.status_code in (413, 422), (path, body[:8])
            assert ApiError.model_validate_json(answer.text).hint, (path, body[:8])


def _spoilt(value: Any) -> Iterator[Any]:
    """The value with one number or truth in it told otherwise than as such."""
    if isinstance(value, bool):
        yield from (int(value), str(value).lower())
    elif isinstance(value, int | float):
        yield from (True, str(value))
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            for other in _spoilt(inner):
                whole = copy.copy(value)
                whole[key] = other
                yield whole


def test_a_number_is_a_number_and_a_truth_a_truth(
    app: FastAPI, client: TestClient, operator_auth: dict[str, str]
) -> None:
    """As the description says; nothing is taken for what it only looks like."""
    seen = 0
    for path, example in _posted(app):
        for spoilt in _spoilt(example):
            answer = client.post(_address(path), json=spoilt, headers=_token(path, operator_auth))
            assert answer.status_code == 422, (path, json.dumps(spoilt)[:300])
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("number", ["replay", "1x", "-1"])
def test_a_delivery_is_named_by_a_number(client: TestClient, number: str) -> None:
    """An address beside it is not one of them."""
    assert client.get(f"/api/v1/outbox/{number}").status_code in (404, 405)
