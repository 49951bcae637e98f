"""Rows WH: what the webhook endpoint takes, refuses and ignores."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select

from relay.github.types import GitHubError
from relay.store.crcr_models import Dispatch, OutboxItem
from relay.store.models import Delivery
from tests.conformance.payloads import pull_request
from tests.conformance.world import World

SIGNATURE = "X-Hub-Signature-256"


def untouched(world: World) -> bool:
    """Nothing was kept, and nothing leaves."""
    world.drain()
    with world.session() as session:
        counts = [session.scalar(select(func.count()).select_from(of)) for of in (Delivery, Dispatch, OutboxItem)]
    return counts == [0, 0, 0] and world.github.calls == []


def dispatched(world: World) -> list[str]:
    world.drain()
    return world.github.dispatched_to()


ALL = ["a/l1", "a/l2", "a/l3", "a/l4"]


@pytest.mark.row("WH01")
def test_another_path_is_not_found(world: World) -> None:
    answer = world.webhook("pull_request", pull_request(), path="/github/hook")
    assert answer.status_code == 404
    assert answer.json()["detail"].lower() == "not found"
    assert untouched(world)


@pytest.mark.row("WH02")
def test_another_method_is_refused(world: World) -> None:
    answer = world.client.get("/github/webhook")
    assert answer.status_code == 405
    assert answer.json()["detail"].lower() == "method not allowed"


@pytest.mark.row("WH03")
def test_a_trailing_slash_is_another_path(world: World) -> None:
    assert world.webhook("pull_request", pull_request(), path="/github/webhook/").status_code == 404
    assert untouched(world)


@pytest.mark.row("WH04")
def test_a_wrong_signature_is_refused(world: World) -> None:
    answer = world.webhook("pull_request", pull_request(), headers={SIGNATURE: "sha256=" + "0" * 64})
    assert answer.status_code == 401
    assert answer.json().keys() == {"detail"}
    assert untouched(world)


@pytest.mark.row("WH05")
def test_a_missing_signature_is_refused(world: World) -> None:
    answer = world.webhook("pull_request", pull_request(), headers={SIGNATURE: None})
    assert answer.status_code == 400
    assert answer.json().keys() == {"detail"}
    assert untouched(world)


@pytest.mark.row("WH06")
def test_a_foreign_event_is_ignored(world: World) -> None:
    answer = world.webhook("issues", pull_request())
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert untouched(world)


@pytest.mark.row("WH07")
@pytest.mark.parametrize("event", ["issues", "ping"])
def test_a_foreign_event_is_ignored_before_its_signature_is_judged(world: World, event: str) -> None:
    answer = world.webhook(event, pull_request(), headers={SIGNATURE: "sha256=bad"})
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert untouched(world)


@pytest.mark.row("WH08")
def test_invalid_json_is_refused(world: World) -> None:
    answer = world.webhook("pull_request", b"{not json")
    assert answer.status_code == 400
    assert "JSON" in answer.json()["detail"]
    assert untouched(world)


@pytest.mark.row("WH09")
def test_an_empty_body_is_ignored(world: World) -> None:
    answer = world.webhook("pull_request", b"")
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert untouched(world)


@pytest.mark.row("WH10")
@pytest.mark.parametrize("body", [b"[]", b"null", b'"text"', b"5"])
def test_json_that_is_no_object_is_refused(world: World, body: bytes) -> None:
    answer = world.webhook("pull_request", body)
    assert answer.status_code == (500 if world.strict else 400)
    assert answer.json().keys() == {"detail"}
    assert untouched(world)


@pytest.mark.row("WH11")
def test_another_repository_is_ignored(world: World) -> None:
    answer = world.webhook("pull_request", pull_request(repository={"full_name": "other/pytorch"}))
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert untouched(world)


@pytest.mark.row("WH12")
def test_the_repository_may_differ_in_letter_case(world: World) -> None:
    answer = world.webhook("pull_request", pull_request(repository={"full_name": "PyTorch/PYTORCH"}))
    assert answer.status_code == 200
    assert dispatched(world) == ALL


@pytest.mark.row("WH13")
@pytest.mark.parametrize("repository", [None, {"full_name": None}, "pytorch/pytorch"])
def test_a_body_of_no_repository_is_ignored(world: World, repository: object) -> None:
    answer = world.webhook("pull_request", pull_request(repository=repository))
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert untouched(world)


@pytest.mark.row("WH14")
def test_a_valid_webhook_is_answered_with_what_became_of_it(world: World) -> None:
    answer = world.webhook("pull_request", pull_request())
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert (told["ok"], told["dispatched"], told["failed"]) == (True, [], [])
    assert [entry["repo"] for entry in told["queued"]] == ALL
    assert dispatched(world) == ALL


@pytest.mark.row("WH15")
def test_a_failure_of_what_was_asked_for_is_passed_on(world: World) -> None:
    world.github.fail("rerun_failed_jobs", GitHubError("Forbidden", status=403))
    check = {"name": "crcr/a/l3/CI/build", "external_id": "55:7"}
    body = pull_request(action="rerequested", check_run=check)
    answer = world.webhook("check_run", body)
    assert answer.status_code == 502
    assert answer.json()["detail"]["repo"] == "a/l3"


@pytest.mark.row("WH16")
def test_two_webhooks_of_one_process_share_its_configuration(world: World) -> None:
    first = world.webhook("pull_request", pull_request(), delivery="d1")
    settings = world.context.settings
    second = world.webhook("pull_request", pull_request(number=8), delivery="d2")
    assert (first.status_code, second.status_code) == (200, 200)
    assert world.client.app.state.relay.settings is settings  # type: ignore[attr-defined]  # the client types it as ASGI
    assert dispatched(world) == sorted(ALL * 2)


@pytest.mark.row("WH17")
@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
def test_header_names_have_no_letter_case(world: World, change: object) -> None:
    assert callable(change)
    body = json.dumps(pull_request()).encode()
    given = world.webhook("issues", body).request.headers
    wire = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "d1", SIGNATURE: given[SIGNATURE]}
    headers = {change(name): value for name, value in wire.items()}
    assert world.client.post("/github/webhook", content=body, headers=headers).status_code == 200
    assert dispatched(world) == ALL


@pytest.mark.row("WH18", "WH21")
@pytest.mark.parametrize("change", ["scheme", "hex", "no scheme"])
def test_a_signature_is_written_in_one_way_only(world: World, change: str) -> None:
    body = json.dumps(pull_request()).encode()
    right = world.webhook("issues", body).request.headers[SIGNATURE]
    scheme, _, digits = right.partition("=")
    wrong = {"scheme": f"SHA256={digits}", "hex": f"{scheme}={digits.upper()}", "no scheme": digits}[change]
    assert wrong != right
    assert world.webhook("pull_request", body, headers={SIGNATURE: wrong}).status_code == 401
    assert untouched(world)


@pytest.mark.row("WH19")
def test_the_body_is_the_bytes_of_the_request_whatever_transports_them(world: World) -> None:
    """The original unpacked base64 because its platform packed it; over HTTP there is one form, also in pieces."""
    body = json.dumps(pull_request()).encode()
    headers = {
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": "d1",
        SIGNATURE: world.webhook("issues", body).request.headers[SIGNATURE],
    }
    pieces = (body[start : start + 1000] for start in range(0, len(body), 1000))
    assert world.client.post("/github/webhook", content=pieces, headers=headers).status_code == 200
    assert dispatched(world) == ALL


@pytest.mark.row("WH20")
@pytest.mark.parametrize("body", [b"\xff\xfe{}", b'{"a": "\xff"}'])
def test_a_body_that_is_not_utf8_is_refused(world: World, body: bytes) -> None:
    answer = world.webhook("pull_request", body)
    assert answer.status_code == (500 if world.strict else 400)
    assert answer.json().keys() == {"detail"}
    assert untouched(world)


@pytest.mark.row("WH22")
@pytest.mark.parametrize("pull", [None, {"labels": None}, {"labels": [None, {"name": None}], "head": None}])
def test_a_pull_request_with_holes_is_dispatched(world: World, pull: object) -> None:
    body = pull_request(pull_request=pull)
    answer = world.webhook("pull_request", body)
    assert answer.status_code == 200
    assert dispatched(world) == ALL
    assert all(sent.client_payload["payload"] == body for sent in world.github.dispatches)
