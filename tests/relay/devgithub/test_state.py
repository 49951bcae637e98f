"""Who is there, and who hears of what."""

from __future__ import annotations

import json

import pytest

from relay.devgithub import DevGitHub, RefusedError
from tests.relay.devgithub.conftest import Ear


def test_a_repository_has_its_name_in_any_letter_case(state: DevGitHub) -> None:
    made = state.add_repository("Acme/Backend")
    assert state.repository("acme/backend") is made
    assert (made.owner, made.name) == ("Acme", "Backend")
    with pytest.raises(RefusedError, match="Not Found"):
        state.repository("acme/other")


def test_an_app_is_installed_once_on_an_account(state: DevGitHub) -> None:
    app = state.add_app()
    for name in ("acme/a", "Acme/b", "other/c"):
        state.add_repository(name, app=app)
    assert [len(each.repositories) for each in state.installations.values()] == [2, 1]
    found = state.installation_for(app, state.repository("acme/a"))
    assert found is state.installation_for(app, state.repository("acme/b"))


def test_an_event_reaches_those_who_have_the_repository_and_asked_for_it(state: DevGitHub, ear: Ear) -> None:
    hearing = state.add_app("hearing", webhook_url=ear.url, events=("push",))
    deaf = state.add_app("deaf", webhook_url=ear.url, events=("pull_request",))
    silent = state.add_app("silent", events=("push",))
    elsewhere = state.add_app("elsewhere", webhook_url=ear.url, events=("push",))
    repository = state.add_repository("acme/a", app=hearing)
    for app in (deaf, silent):
        state.install(app, "acme/a")
    state.add_repository("acme/other", app=elsewhere)
    deliveries = state.announce(repository, "push", {"ref": "refs/heads/main"})
    assert [each.app for each in deliveries] == [hearing]
    told = json.loads(ear.heard[0][1])
    assert told["installation"]["id"] == deliveries[0].installation_id
    assert state.announce(repository, "push", {}, only=deaf) == []


def test_a_key_that_is_none_makes_no_app(state: DevGitHub) -> None:
    with pytest.raises(ValueError, match="PEM"):
        state.add_app(private_pem="no key")
    assert state.apps == {}
