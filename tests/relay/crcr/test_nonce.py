"""A proof is good for its own dispatch and backend, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from relay.crcr.nonce import NonceCheck, check_nonce, envelope_key, new_nonce
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch
from tests.relay.stories import START


def _dispatch(**changes: Any) -> Dispatch:
    given = {"id": 5, "delivery_id": "d1", "repo": "A/l3", "repo_key": "a/l3", "nonce": "fixed", "queued_at": START}
    return Dispatch(**given | changes)


def test_what_was_sent_is_accepted_and_is_the_same_each_time(settings: RelaySettings) -> None:
    sent = envelope_key(settings, _dispatch())
    assert sent == envelope_key(settings, _dispatch())
    assert (sent["dispatch_id"], sent["issued_at"]) == (5, START.isoformat())
    assert check_nonce(settings, _dispatch(), sent) is NonceCheck.VALID


@pytest.mark.parametrize("other", [{"id": 6}, {"delivery_id": "d2"}, {"repo_key": "a/l4"}, {"nonce": "other"}])
def test_it_is_not_good_for_another_dispatch(settings: RelaySettings, other: dict[str, Any]) -> None:
    sent = envelope_key(settings, _dispatch(**other))
    assert check_nonce(settings, _dispatch(), sent) is NonceCheck.WRONG


def test_it_needs_the_secret(settings: RelaySettings) -> None:
    foreign = settings.model_copy(update={"webhook_secret": SecretStr("another-secret-for-tests")})
    assert check_nonce(settings, _dispatch(), envelope_key(foreign, _dispatch())) is NonceCheck.WRONG


@pytest.mark.parametrize("echoed", [None, {}, [], "text", {"nonce": None}, {"dispatch_id": 5}])
def test_an_echo_without_it_is_told_from_a_wrong_one(settings: RelaySettings, echoed: object) -> None:
    assert check_nonce(settings, _dispatch(), echoed) is NonceCheck.ABSENT


@pytest.mark.parametrize("nonce", ["", "fixed", "fixed.", 5, True, ["fixed"], "\ud800", "ä"])
def test_anything_else_is_wrong(settings: RelaySettings, nonce: object) -> None:
    assert check_nonce(settings, _dispatch(), {"nonce": nonce}) is NonceCheck.WRONG


def test_a_dispatch_that_carried_none_asks_for_none(settings: RelaySettings) -> None:
    assert check_nonce(settings, _dispatch(nonce=""), None) is NonceCheck.UNASKED
    assert check_nonce(settings, _dispatch(nonce=""), {"nonce": "anything"}) is NonceCheck.UNASKED


def test_nonces_are_different() -> None:
    assert len({new_nonce() for _ in range(100)}) == 100
