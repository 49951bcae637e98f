"""Tokens of jobs: what they say, and that the published keys open them."""

from __future__ import annotations

import json

import jwt
import pytest

from relay.devgithub import DevGitHub
from relay.devgithub.keys import key_id, new_private_pem, public_key
from relay.devgithub.oidc import AUDIENCE, LIFE_S, Issuer


def opened(issuer: Issuer, token: str) -> dict[str, object]:
    """The claims, read with the published key set alone, whatever the time."""
    keys = jwt.PyJWKSet.from_json(json.dumps(issuer.key_set()))
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, options={"verify_exp": False})


def test_the_published_keys_open_a_token(state: DevGitHub) -> None:
    claims = opened(state.oidc, state.oidc.mint("acme/backend", run_id=7, run_attempt=2))
    assert claims["iss"] == state.url == state.oidc.configuration()["issuer"]
    assert (claims["repository"], claims["run_id"], claims["run_attempt"]) == ("acme/backend", "7", "2")
    assert claims["exp"] == int(state.now().timestamp()) + LIFE_S


def test_claims_can_be_changed_and_left_out(state: DevGitHub) -> None:
    claims = opened(state.oidc, state.oidc.mint("a/b", changes={"exp": None, "ref": "refs/heads/x"}))
    assert "exp" not in claims
    assert claims["ref"] == "refs/heads/x"


def test_no_two_tokens_are_one(state: DevGitHub) -> None:
    first, second = (opened(state.oidc, state.oidc.mint("a/b"))["jti"] for _ in range(2))
    assert first != second


def test_a_rotated_key_leaves_the_key_set(state: DevGitHub) -> None:
    old = state.oidc.mint("a/b")
    state.oidc.rotate()
    with pytest.raises(KeyError):
        opened(state.oidc, old)
    assert opened(state.oidc, state.oidc.mint("a/b"))


def test_a_key_has_one_name_for_ever() -> None:
    pem = new_private_pem()
    assert key_id(pem) == key_id(pem) != key_id(new_private_pem())
    with pytest.raises(ValueError, match="PEM"):
        public_key("no key at all")
