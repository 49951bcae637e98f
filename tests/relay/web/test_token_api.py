"""Tokens over HTTP: made once, listed without their value, revoked at once, every step in the audit log."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from relay.access_views import ActionPage, NewToken, TokenPage, TokenView
from relay.context import RelayContext
from relay.views import ApiError

pytestmark = pytest.mark.both_setups

PATH = "/api/v1/tokens"


def create(client: TestClient, auth: dict[str, str], **wanted: Any) -> dict[str, Any]:
    answer = client.post(PATH, json={"name": "ci", "scope": "operate", **wanted}, headers=auth)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return dict(answer.json())


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_works_from_its_making_to_its_end(client: TestClient, operator_auth: dict[str, str]) -> None:
    new = create(client, operator_auth)
    actions = "/api/v1/actions"
    assert client.get(actions, headers=bearer(new["token"])).status_code == 200
    ended = client.delete(f"{PATH}/{new['about']['id']}", headers=operator_auth)
    assert (ended.status_code, ended.json()["state"]) == (200, "revoked")
    assert client.get(actions, headers=bearer(new["token"])).status_code == 401


def test_the_value_is_told_once(client: TestClient, operator_auth: dict[str, str]) -> None:
    """Neither the list, nor the log, nor the end of it has it."""
    new = create(client, operator_auth)
    ended = client.delete(f"{PATH}/{new['about']['id']}", headers=operator_auth)
    for answer in (
        client.get(PATH, headers=operator_auth),
        client.get(f"{PATH}?every=true", headers=operator_auth),
        client.get("/api/v1/actions", headers=operator_auth),
        ended,
    ):
        assert new["token"] not in answer.text
        assert "digest" not in answer.text


def test_who_made_and_ended_a_token_is_in_the_log(client: TestClient, operator_auth: dict[str, str]) -> None:
    boss = create(client, operator_auth, name="boss", scope="admin")
    made = create(client, bearer(boss["token"]), name="helper", scope="read")
    client.delete(f"{PATH}/{made['about']['id']}", headers=bearer(boss["token"]))
    told = client.get("/api/v1/actions?actor=boss", headers=operator_auth).json()["actions"]
    assert [(one["action"], one["subject"]) for one in told] == [
        ("token.revoke", f"token {made['about']['id']} helper"),
        ("token.create", f"token {made['about']['id']} helper"),
    ]
    assert told[1]["detail"] == "scope read, without an end"


def test_a_token_can_have_an_end(client: TestClient, context: RelayContext, operator_auth: dict[str, str]) -> None:
    end = context.now() + timedelta(hours=1)
    new = create(client, operator_auth, expires_at=end.isoformat())
    listed = client.get(PATH, headers=operator_auth).json()["tokens"]
    assert [token["name"] for token in listed] == ["ci"]
    object.__setattr__(context, "now", lambda: end)
    assert client.get(PATH, headers=operator_auth).json()["tokens"] == []
    assert client.get("/api/v1/actions", headers=bearer(new["token"])).status_code == 401


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"name": ""}, 422),
        ({"name": " ci"}, 422),
        ({"name": "operator (settings)"}, 422),
        ({"name": "a\nb"}, 422),
        ({"name": "a\n"}, 422),
        ({"name": "x" * 101}, 422),
        ({"scope": "root"}, 422),
        ({"expires_at": "2030-01-01T00:00:00"}, 422),
        ({"expires_at": "2001-01-01T00:00:00Z"}, 409),
        ({"surprise": 1}, 422),
    ],
)
def test_what_makes_no_sense_is_refused(
    client: TestClient, operator_auth: dict[str, str], wanted: dict[str, object], status: int
) -> None:
    answer = client.post(PATH, json={"name": "ci", "scope": "read", **wanted}, headers=operator_auth)
    assert answer.status_code == status
    assert ApiError.model_validate_json(answer.text).hint


def test_a_name_that_is_taken_is_409(client: TestClient, operator_auth: dict[str, str]) -> None:
    create(client, operator_auth)
    answer = client.post(PATH, json={"name": "ci", "scope": "read"}, headers=operator_auth)
    assert (answer.status_code, ApiError.model_validate_json(answer.text).code) == (409, "name_taken")


def test_the_lists_are_paged_by_key(client: TestClient, operator_auth: dict[str, str]) -> None:
    for number in range(3):
        create(client, operator_auth, name=f"t{number}")
    for path, key in ((PATH, "tokens"), ("/api/v1/actions", "actions")):
        first = client.get(f"{path}?limit=2", headers=operator_auth).json()
        rest = client.get(f"{path}?limit=2&before={first['next_before']}", headers=operator_auth).json()
        assert (len(first[key]), len(rest[key]), rest["next_before"]) == (2, 1, None)


@pytest.mark.parametrize("verb", ["rerun", "cancel"])
def test_the_log_can_be_asked_about_one_run(client: TestClient, operator_auth: dict[str, str], verb: str) -> None:
    """A run that was never acted on has none, and a number that no run can have is no run's."""
    assert client.get("/api/v1/actions?run=5", headers=operator_auth).json()["actions"] == []
    assert client.get(f"/api/v1/actions?action=run.{verb}", headers=operator_auth).json()["actions"] == []
    assert client.get(f"/api/v1/actions?run={2**31}", headers=operator_auth).status_code == 422


def test_the_examples_in_the_description_are_such_answers() -> None:
    """Of everything that is answered about access; none holds a token."""
    for model in (TokenView, TokenPage, NewToken, ActionPage):
        (example,) = model.model_json_schema()["examples"]
        assert model.model_validate(example).model_dump(mode="json") == example
    assert NewToken.model_json_schema()["examples"][0]["token"] == "relay_..."
