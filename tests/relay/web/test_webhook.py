"""What the webhook accepts, refuses and ignores, in the order of the wire protocol."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx as http_client
import httpx2 as httpx
import pytest
import sqlalchemy as sql
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.context import RelayContext
from relay.intake.signature import sign
from relay.parts import CrcrParts
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from relay.store.models import Delivery, DeliveryState, Run
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conftest import OpenApp
from tests.relay.crcr.stage import NoVerifier
from tests.relay.serving import serving

SECRET = "webhook-secret-for-tests"
REPO = "pytorch/pytorch-like"
CAP = 64 * 1024
PULL = (Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_bytes()


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    """A relay for the payload's repository with a small body cap."""
    own = {"upstream_repo": REPO, "webhook_max_bytes": CAP, "webhook_secret": SecretStr(SECRET)}
    return settings.model_copy(update=own)


def post(client: TestClient, body: bytes | Iterator[bytes], **headers: str | None) -> httpx.Response:
    """A signed pull request delivery `d-1`; keyword arguments change its headers, None removes one."""
    given: dict[str, str | None] = {
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": "d-1",
        "X-Hub-Signature-256": sign(SECRET, body) if isinstance(body, bytes) else "sha256=",
    }
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(
        "/github/webhook", content=body, headers={name: value for name, value in given.items() if value is not None}
    )


def pull(**changes: Any) -> bytes:
    payload: dict[str, Any] = json.loads(PULL)
    return json.dumps(payload | changes).encode()


def stored(context: RelayContext) -> tuple[int, int]:
    """How many deliveries and runs there are."""
    with context.store.reading() as session:
        counts = [session.scalar(sql.select(sql.func.count()).select_from(table)) or 0 for table in (Delivery, Run)]
    return counts[0], counts[1]


def test_an_opened_pull_request_is_stored_answered_and_becomes_a_run(client: TestClient, context: RelayContext) -> None:
    answer = post(client, PULL)
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "delivery_id": "d-1", "repeated": False})
    assert stored(context) == (1, 1)


def test_a_redelivery_is_answered_alike_and_makes_no_second_run(client: TestClient, context: RelayContext) -> None:
    post(client, PULL)
    answer = post(client, PULL)
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "delivery_id": "d-1", "repeated": True})
    assert stored(context) == (1, 1)


def test_the_same_id_with_another_body_is_409(client: TestClient, context: RelayContext) -> None:
    post(client, PULL)
    answer = post(client, pull(number=8))
    assert answer.status_code == 409
    assert "d-1" in answer.json()["detail"]
    assert stored(context) == (1, 1)


@pytest.mark.parametrize("delivery", [None, ""])
def test_without_a_delivery_id_it_is_400(client: TestClient, context: RelayContext, delivery: str | None) -> None:
    answer = post(client, PULL, X_GitHub_Delivery=delivery)
    assert (answer.status_code, answer.json()) == (400, {"detail": "The header X-GitHub-Delivery is missing."})
    assert stored(context) == (0, 0)


def test_in_the_strict_mode_the_body_is_the_identity_of_one_without_an_id(
    settings: RelaySettings, open_app: OpenApp
) -> None:
    nobody = CrcrParts(AllowlistStandIn(utc_now, text=""), NoVerifier(), GitHubStandIn())
    application = open_app(settings.model_copy(update={"crcr_strict_compat": True}), crcr=nobody)
    context, client = application.state.relay, TestClient(application)
    for _ in range(2):
        assert post(client, PULL, X_GitHub_Delivery=None).status_code == 200
    assert stored(context) == (1, 1)
    with context.store.reading() as session:
        assert session.scalars(sql.select(Delivery)).one().delivery_id.startswith("sha256:")


@pytest.mark.parametrize("event", ["issues", "issue_comment", "ping", "", None])
def test_other_events_are_ignored_whatever_their_signature(
    client: TestClient, context: RelayContext, event: str | None
) -> None:
    answer = post(client, b"not json", X_GitHub_Event=event, X_Hub_Signature_256="sha256=bad")
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert stored(context) == (0, 0)


@pytest.fixture
def commanded(settings: RelaySettings, open_app: OpenApp) -> TestClient:
    """A relay that reads the comments of one backend."""
    nobody = CrcrParts(AllowlistStandIn(utc_now, text=""), NoVerifier(), GitHubStandIn())
    return TestClient(open_app(settings.model_copy(update={"comment_commands": "acme/backend"}), crcr=nobody))


@pytest.mark.parametrize(
    ("repo", "event", "kept"),
    [
        ("Acme/Backend", "issue_comment", 1),
        (REPO, "issue_comment", 0),
        ("acme/backend", "pull_request", 0),
        (REPO, "pull_request", 1),
        ("some/other", "issue_comment", 0),
    ],
)
def test_comments_are_taken_in_where_they_are_read_and_nothing_else_from_there(
    commanded: TestClient, repo: str, event: str, kept: int
) -> None:
    body = pull(repository={"full_name": repo})
    answer = post(commanded, body, X_GitHub_Event=event)
    assert answer.status_code == 200
    assert stored(commanded.app.state.relay)[0] == kept  # type: ignore[attr-defined]  # starlette knows it as any ASGI app


def test_a_comment_is_judged_by_its_signature_like_everything(commanded: TestClient) -> None:
    body = pull(repository={"full_name": "acme/backend"})
    answer = post(commanded, body, X_GitHub_Event="issue_comment", X_Hub_Signature_256="sha256=bad")
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("signature", "status"),
    [
        (None, 400),
        ("", 400),
        ("sha256=" + "0" * 64, 401),
        (sign("another-secret-for-tests", PULL), 401),
        (sign(SECRET, PULL).upper(), 401),
        (sign(SECRET, PULL).removeprefix("sha256="), 401),
        (sign(SECRET, PULL + b" "), 401),
    ],
)
def test_a_bad_signature_creates_nothing(
    client: TestClient, context: RelayContext, signature: str | None, status: int
) -> None:
    answer = post(client, PULL, X_Hub_Signature_256=signature)
    assert answer.status_code == status
    assert answer.json().keys() == {"detail"}
    assert SECRET not in answer.text
    assert stored(context) == (0, 0)


def test_the_signature_is_judged_before_the_json(client: TestClient) -> None:
    assert post(client, b"{", X_Hub_Signature_256="sha256=bad").status_code == 401


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]", b"null", b'"text"', b"[" * 50_000])
def test_a_signed_body_that_is_no_json_object_is_400(client: TestClient, context: RelayContext, body: bytes) -> None:
    answer = post(client, body)
    assert answer.status_code == 400
    assert answer.json().keys() == {"detail"}
    assert stored(context) == (0, 0)


@pytest.mark.parametrize("body", [b"", b"{}", pull(repository=None), pull(repository={"full_name": "other/pytorch"})])
def test_another_repository_is_ignored(client: TestClient, context: RelayContext, body: bytes) -> None:
    answer = post(client, body)
    assert (answer.status_code, answer.json()) == (200, {"ignored": True})
    assert stored(context) == (0, 0)


def test_the_repository_may_differ_in_letter_case(client: TestClient, context: RelayContext) -> None:
    assert post(client, pull(repository={"full_name": "PyTorch/PyTorch-Like"})).json()["ok"] is True
    assert stored(context) == (1, 1)


@pytest.mark.parametrize(
    ("event", "body"), [("pull_request", pull(action="labeled")), ("check_run", pull(action="rerequested"))]
)
def test_events_without_effect_are_recorded_and_say_so(
    client: TestClient, context: RelayContext, event: str, body: bytes
) -> None:
    answer = post(client, body, X_GitHub_Event=event).json()
    assert (answer["ok"], answer["ignored"]) == (True, True)
    with context.store.reading() as session:
        assert session.scalars(sql.select(Delivery)).one().state is DeliveryState.IGNORED
    assert stored(context) == (1, 0)


def test_header_names_are_not_case_sensitive(client: TestClient) -> None:
    headers = {"x-github-event": "pull_request", "X-HUB-SIGNATURE-256": sign(SECRET, PULL), "x-GITHUB-delivery": "d"}
    assert client.post("/github/webhook", content=PULL, headers=headers).json()["ok"] is True


def test_an_overlong_delivery_id_is_refused(client: TestClient, context: RelayContext) -> None:
    answer = post(client, PULL, X_GitHub_Delivery="x" * 201)
    assert answer.status_code == 400
    assert stored(context) == (0, 0)


def test_a_body_at_the_cap_is_taken_and_one_byte_more_is_not(client: TestClient, context: RelayContext) -> None:
    padded = PULL + b" " * (CAP - len(PULL))
    assert post(client, padded).status_code == 200
    answer = post(client, padded + b" ", X_GitHub_Delivery="d-2")
    assert answer.status_code == 413
    assert str(CAP) in answer.json()["detail"]
    assert stored(context) == (1, 1)


def test_a_body_without_a_length_is_counted_as_it_comes(client: TestClient, context: RelayContext) -> None:
    chunks = (b" " * 1024 for _ in range(CAP // 1024 + 1))
    assert post(client, chunks).status_code == 413
    assert stored(context) == (0, 0)


def test_an_endless_body_is_not_read_to_its_end(app: FastAPI) -> None:
    head = b"POST /github/webhook HTTP/1.1\r\nHost: relay\r\nX-GitHub-Event: push\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (CAP, b" " * CAP)
    sent, answer = 0, b""
    with serving(app) as url, socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), timeout=20) as peer:
        peer.sendall(head)
        # Socket buffers swallow some megabytes beyond what the server reads; a server that reads on never stops.
        while not answer and sent < 1_000:
            readable, writable, _ = select.select([peer], [peer], [], 20)
            if readable:
                answer = peer.recv(64)
            elif writable:
                peer.sendall(chunk)
                sent += 1
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_a_declared_giant_is_refused_unread(app: FastAPI) -> None:
    head = b"POST /github/webhook HTTP/1.1\r\nHost: relay\r\nX-GitHub-Event: push\r\nContent-Length: 9999999999\r\n\r\n"
    with serving(app) as url, socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), timeout=20) as peer:
        peer.sendall(head)
        assert peer.recv(64).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_sends_too_much_gets_to_read_the_answer(app: FastAPI) -> None:
    """Closing while it still sends would show it a broken connection instead."""
    with serving(app) as url:
        answer = http_client.post(
            f"{url}/github/webhook", content=b" " * (3 * CAP), headers={"X-GitHub-Event": "push"}, trust_env=False
        )
    assert answer.status_code == 413


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/github/webhook", 405), ("POST", "/github/", 404)])
def test_other_methods_and_paths_are_refused(client: TestClient, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"detail"}


def test_a_trailing_slash_is_another_path(client: TestClient) -> None:
    assert client.post("/github/webhook/", follow_redirects=False).status_code == 404
