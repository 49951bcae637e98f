"""Deliveries of webhooks: signed, tried once, remembered, sent again on demand."""

from __future__ import annotations

import json
import socket

import pytest

from relay.devgithub import App, DevGitHub, RefusedError
from relay.intake.signature import check_signature
from tests.relay.devgithub.conftest import Ear

SECRET = "a-webhook-secret"
PAYLOAD = {"action": "opened", "number": 7}


@pytest.fixture
def app(state: DevGitHub, ear: Ear) -> App:
    return state.add_app(webhook_url=ear.url, webhook_secret=SECRET)


def test_a_delivery_is_signed_and_named(state: DevGitHub, app: App, ear: Ear) -> None:
    delivery = state.hooks.send(app, "pull_request", PAYLOAD, installation=3, repository=4)
    ((headers, body),) = ear.heard
    check_signature(SECRET, body, headers["x-hub-signature-256"])
    assert json.loads(body) == PAYLOAD
    assert (headers["x-github-event"], headers["x-github-delivery"]) == ("pull_request", delivery.guid)
    assert headers["x-github-hook-installation-target-type"] == "integration"
    assert (delivery.action, delivery.status_code, delivery.response_body) == ("opened", 200, "heard")


def test_a_redelivery_is_the_same_bytes_under_a_new_number(state: DevGitHub, app: App, ear: Ear) -> None:
    first = state.hooks.send(app, "push", {}, installation=3, repository=4)
    again = state.hooks.redeliver(app, first.id)
    state.hooks.wait_idle()
    assert ear.heard[0][1] == ear.heard[1][1]
    assert again.id != first.id
    assert (again.guid, again.redelivery, first.redelivery) == (first.guid, True, False)
    assert [each.id for each in state.hooks.of(app)] == [again.id, first.id]


def test_a_receiver_that_says_no_is_remembered_and_not_asked_again(state: DevGitHub, app: App, ear: Ear) -> None:
    ear.status = 500
    delivery = state.hooks.send(app, "push", {}, installation=3, repository=4)
    assert (delivery.status_code, delivery.status) == (500, "Internal Server Error")
    assert len(ear.heard) == 1


def test_nobody_there_is_remembered(state: DevGitHub) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    app = state.add_app(webhook_url=f"http://127.0.0.1:{port}/")
    delivery = state.hooks.send(app, "push", {}, installation=3, repository=4)
    assert (delivery.status_code, delivery.status) == (502, "failed to connect to host")


def test_a_lost_delivery_is_remembered_as_failed(state: DevGitHub, app: App, ear: Ear) -> None:
    state.hooks.lose_next()
    lost, arrived = (state.hooks.send(app, "push", {}, installation=3, repository=4) for _ in range(2))
    assert (lost.status_code, arrived.status_code) == (502, 200)
    assert len(ear.heard) == 1


def test_what_is_posted_is_waited_for(state: DevGitHub, app: App, ear: Ear) -> None:
    for _ in range(20):
        state.hooks.post(app, "push", {}, installation=3, repository=4)
    state.hooks.wait_idle()
    assert len(ear.heard) == len(state.hooks.of(app)) == 20


def test_another_apps_delivery_is_not_there(state: DevGitHub, app: App) -> None:
    delivery = state.hooks.send(app, "push", {}, installation=3, repository=4)
    with pytest.raises(RefusedError) as refused:
        state.hooks.find(state.add_app("other"), delivery.id)
    assert refused.value.status == 404


def test_secrets_are_in_no_text_of_an_app(state: DevGitHub, app: App) -> None:
    """Failed assertions and logs print what they hold."""
    delivery = state.hooks.send(app, "push", {}, installation=3, repository=4)
    for text in (repr(app), repr(delivery)):
        assert SECRET not in text
        assert "PRIVATE KEY" not in text
