"""Credentials: the app's own token and its window, the installation's token and its hour."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from relay.devgithub import App, DevGitHub, RefusedError
from relay.devgithub.access import caller_of
from relay.devgithub.keys import new_private_pem
from relay.devgithub.tokens import app_of
from tests.relay.devgithub.conftest import Clock


@pytest.fixture
def app(state: DevGitHub) -> App:
    made = state.add_app()
    state.add_repository("acme/backend", app=made)
    state.add_repository("acme/hidden", app=made, private=True)
    return made


def signed(state: DevGitHub, app: App, *, pem: str = "", algorithm: str = "RS256", **changes: Any) -> str:
    now = int(state.now().timestamp())
    claims = {"iss": str(app.id), "iat": now - 60, "exp": now + 540} | changes
    key = pem or app.private_pem
    return jwt.encode({name: value for name, value in claims.items() if value is not None}, key, algorithm)


def test_an_app_is_known_by_its_signature(state: DevGitHub, app: App) -> None:
    assert app_of(signed(state, app), state.apps, state.now()) is app
    assert app_of(signed(state, app, exp=int(state.now().timestamp()) + 600), state.apps, state.now()) is app


def test_a_token_outside_its_window_is_refused(state: DevGitHub, app: App) -> None:
    """GitHub's window: issued in the past, ending in the future, and that within ten minutes."""
    now = int(state.now().timestamp())
    wrong: list[dict[str, Any]] = [
        {"iat": now + 1},
        {"iat": None},
        {"iat": "now"},
        {"exp": now},
        {"exp": None},
        {"exp": now + 601},
    ]
    for changes in wrong:
        with pytest.raises(RefusedError) as refused:
            app_of(signed(state, app, **changes), state.apps, state.now())
        assert refused.value.status == 401, changes


def test_a_token_of_nobody_here_is_refused(state: DevGitHub, app: App) -> None:
    other = state.add_app("other")
    tokens = [
        "a.b.c",
        signed(state, app, pem=new_private_pem()),
        signed(state, app, pem=other.private_pem),
        signed(state, app, iss="99"),
        signed(state, app, iss=None),
        signed(state, app, pem="0123456789" * 7, algorithm="HS256"),
    ]
    for token in tokens:
        with pytest.raises(RefusedError, match="could not be decoded"):
            app_of(token, state.apps, state.now())


def test_an_installation_token_lives_an_hour(state: DevGitHub, app: App, clock: Clock) -> None:
    installation = state.installation_for(app, state.repository("acme/backend"))
    assert installation is not None
    grant = state.tokens.grant(installation, frozenset(installation.repositories), app.permissions)
    clock.tick(3599)
    assert state.tokens.find(grant.token) is grant
    clock.tick(1)
    with pytest.raises(RefusedError, match="Bad credentials"):
        state.tokens.find(grant.token)


def test_a_revoked_token_is_none(state: DevGitHub, app: App) -> None:
    installation = state.installation_for(app, state.repository("acme/backend"))
    assert installation is not None
    grant = state.tokens.grant(installation, frozenset(installation.repositories), {})
    state.tokens.revoke_all()
    with pytest.raises(RefusedError, match="Bad credentials"):
        caller_of(state, f"Bearer {grant.token}")


def test_a_repository_that_is_taken_away_closes_at_once(state: DevGitHub, app: App) -> None:
    """Also for a token that is still alive; what is private is then not even there."""
    installation = state.installation_for(app, state.repository("acme/hidden"))
    assert installation is not None
    grant = state.tokens.grant(installation, frozenset(installation.repositories), app.permissions)
    state.uninstall(app, "Acme/Hidden")
    caller = caller_of(state, f"token {grant.token}")
    with pytest.raises(RefusedError) as refused:
        caller.check(state.repository("acme/hidden"), "contents", "write")
    assert refused.value.status == 404


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer ", "ghs_abc", "Bearer ghs_unknown"])
def test_a_header_that_is_no_credential_is_refused(state: DevGitHub, header: str) -> None:
    with pytest.raises(RefusedError) as refused:
        caller_of(state, header)
    assert refused.value.status == 401


def test_who_may_do_what(state: DevGitHub, app: App) -> None:
    """Anonymous: read what is public. An installation: its repositories, as far as its permissions go."""
    public, hidden = state.repository("acme/backend"), state.repository("acme/hidden")
    stranger = state.add_repository("other/public")
    installation = state.install(app, "acme/backend")
    grant = state.tokens.grant(installation, frozenset({public.key}), {"contents": "read"})
    caller, nobody = caller_of(state, f"Bearer {grant.token}"), caller_of(state, "")
    nobody.check(public, "contents")
    caller.check(public, "contents")
    caller.check(stranger, "contents")
    refusals = [
        (nobody, public, "write", 401),
        (nobody, hidden, "read", 404),
        (caller, public, "write", 403),
        (caller, hidden, "read", 404),
        (caller, stranger, "write", 403),
        (caller_of(state, f"Bearer {signed(state, app)}"), public, "read", 401),
    ]
    for number, (who, where, level, status) in enumerate(refusals):
        with pytest.raises(RefusedError) as refused:
            who.check(where, "contents", level)
        assert refused.value.status == status, number
