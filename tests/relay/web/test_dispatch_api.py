"""Another relay's dispatch over HTTP: taken in once, for those who may, and leading to what a webhook leads to."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.views import RunState, SubmissionView
from tests.relay.stories import REPO

_OPENED = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_bytes())


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    """A relay for the payload's repository."""
    return settings.model_copy(update={"upstream_repo": REPO})


def _dispatch(delivery: str = "d1", *, sha: str = "1" * 40, **payload: Any) -> dict[str, Any]:
    told = copy.deepcopy(_OPENED) | payload
    told["pull_request"]["head"]["sha"] = sha
    return {"event_type": "pull_request", "delivery_id": delivery, "payload": told}


def _submit(client: TestClient, auth: dict[str, str], dispatch: Any, status: int = 201) -> SubmissionView:
    response = client.post("/api/v1/dispatches", json=dispatch, headers=auth)
    assert response.status_code == status, response.text
    return SubmissionView.model_validate_json(response.text)


def test_a_dispatch_opens_a_run_of_its_pull_request(client: TestClient, operator_auth: dict[str, str]) -> None:
    found = _submit(client, operator_auth, _dispatch())
    assert found.run is not None
    assert (found.run.pr_number, found.run.head_sha, found.run.state) == (7, "1" * 40, RunState.RECEIVED)
    assert not found.repeated


def test_the_same_dispatch_again_is_the_same_run(client: TestClient, operator_auth: dict[str, str]) -> None:
    """However its keys are ordered, and whatever else the envelope holds."""
    first = _submit(client, operator_auth, _dispatch())
    again = _dispatch()
    again["payload"] = dict(reversed(again["payload"].items()))
    second = _submit(client, operator_auth, {"client_payload": again | {"crcr": {"nonce": "n"}}}, status=200)
    assert second.repeated
    assert first.run is not None
    assert second.run is not None
    assert second.run.id == first.run.id


def test_another_content_under_a_known_id_is_refused(client: TestClient, operator_auth: dict[str, str]) -> None:
    _submit(client, operator_auth, _dispatch())
    response = client.post("/api/v1/dispatches", json=_dispatch(sha="2" * 40), headers=operator_auth)
    assert response.status_code == 409


def test_a_new_head_supersedes_the_run_of_the_old_one(client: TestClient, operator_auth: dict[str, str]) -> None:
    old = _submit(client, operator_auth, _dispatch("d1"))
    _submit(client, operator_auth, _dispatch("d2", sha="2" * 40, action="synchronize"))
    assert old.run is not None
    assert client.get(f"/api/v1/runs/{old.run.id}").json()["run"]["state"] == RunState.CANCELLED


def test_a_dispatch_that_asks_for_nothing_says_why(client: TestClient, operator_auth: dict[str, str]) -> None:
    found = _submit(client, operator_auth, _dispatch(action="edited"))
    assert found.run is None
    assert "edited" in found.note


def test_only_operators_may_submit(client: TestClient, context: RelayContext) -> None:
    assert client.post("/api/v1/dispatches", json=_dispatch()).status_code == 401


@pytest.mark.parametrize(
    "dispatch",
    [
        {},
        {"client_payload": None},
        {"event_type": "push", "delivery_id": "d1"},
        _dispatch() | {"delivery_id": ""},
        _dispatch() | {"delivery_id": 5},
        _dispatch() | {"event_type": None},
        _dispatch() | {"payload": []},
        _dispatch(repository={"full_name": "somebody/else"}),
    ],
    ids=["empty", "not dispatched", "no payload", "no id", "number", "no type", "list", "other repository"],
)
def test_what_is_no_dispatch_of_ours_is_refused_with_a_sentence(
    client: TestClient, operator_auth: dict[str, str], dispatch: dict[str, Any]
) -> None:
    response = client.post("/api/v1/dispatches", json=dispatch, headers=operator_auth)
    assert response.status_code == 422
    assert response.json()["hint"]
