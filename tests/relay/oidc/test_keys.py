"""An issuer's keys: which are taken, for how long, and how seldom the issuer is asked."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from relay.oidc.keys import COOL_DOWN_S, FRESH_S, GRACE_S, IssuerKeys, KeysUnavailableError, read_keys
from tests.relay.oidc.issuing import Clock, Publisher, private_key, public_jwk

ISSUER = "https://issuer.invalid"


def keys_of(publisher: Publisher, clock: Clock) -> IssuerKeys:
    """The keys at the issuer."""
    return IssuerKeys(f"{ISSUER}/.well-known/jwks", transport=publisher.transport, clock=clock)


@pytest.fixture
def publisher() -> Publisher:
    made = Publisher()
    made.publish(ISSUER, public_jwk("k1"))
    return made


def test_keys_are_asked_for_once_while_fresh(publisher: Publisher) -> None:
    """And again when they are not."""
    clock = Clock()
    keys = keys_of(publisher, clock)
    for _ in range(5):
        assert keys.find("k1") == private_key("k1").public_key()
    assert len(publisher.asked) == 1
    clock.at += FRESH_S
    assert keys.find("k1") is not None
    assert len(publisher.asked) == 2


def test_a_new_key_is_found_when_a_token_names_it(publisher: Publisher) -> None:
    """An issuer may change keys before ours are stale."""
    clock = Clock()
    keys = keys_of(publisher, clock)
    keys.find("k1")
    publisher.publish(ISSUER, public_jwk("k1"), public_jwk("k2"))
    clock.at += COOL_DOWN_S
    assert keys.find("k2") is not None


def test_a_key_that_is_withdrawn_is_forgotten(publisher: Publisher) -> None:
    """As soon as the issuer is asked again."""
    clock = Clock()
    keys = keys_of(publisher, clock)
    keys.find("k1")
    publisher.publish(ISSUER, public_jwk("k2"))
    clock.at += FRESH_S
    assert keys.find("k1") is None


def test_strangers_cannot_make_us_hammer_the_issuer(publisher: Publisher) -> None:
    """A thousand unknown key ids, one request in the cool-down."""
    clock = Clock()
    keys = keys_of(publisher, clock)
    assert [keys.find(f"bogus-{number}") for number in range(1_000)] == [None] * 1_000
    assert len(publisher.asked) == 1


def test_failures_cool_down_too(publisher: Publisher) -> None:
    """Every caller hears of it, the issuer of one request; then it is tried again."""
    clock = Clock()
    publisher.fail(ISSUER, httpx.Response(500))
    keys = keys_of(publisher, clock)
    for _ in range(10):
        with pytest.raises(KeysUnavailableError, match="500"):
            keys.find("k1")
    assert len(publisher.asked) == 1
    publisher.publish(ISSUER, public_jwk("k1"))
    clock.at += COOL_DOWN_S
    assert keys.find("k1") is not None


def test_known_keys_outlast_an_outage_for_an_hour(publisher: Publisher) -> None:
    """Then they could be withdrawn ones; unknown ids are an outage at once."""
    clock = Clock()
    keys = keys_of(publisher, clock)
    keys.find("k1")
    publisher.fail(ISSUER, httpx.ConnectError("down"))
    clock.at += GRACE_S - 1
    assert keys.find("k1") is not None
    with pytest.raises(KeysUnavailableError):
        keys.find("k2")
    clock.at += 1
    with pytest.raises(KeysUnavailableError):
        keys.find("k1")


class Slow:
    """An issuer that answers only when a second request comes in, or does not within a moment."""

    def __init__(self) -> None:
        self.asked = 0
        self._together = threading.Event()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        if self.asked > 1:
            self._together.set()
        self._together.wait(0.3)
        return httpx.Response(200, json={"keys": [public_jwk("k1")]})


def test_threads_wait_for_the_one_that_asks() -> None:
    """None of them asks beside it, and each gets the key."""
    issuer = Slow()
    keys = IssuerKeys(f"{ISSUER}/.well-known/jwks", transport=httpx.MockTransport(issuer), clock=Clock())
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(keys.find, ["k1"] * 4))
    assert found == [private_key("k1").public_key()] * 4
    assert issuer.asked == 1


class Hanging:
    """An issuer that answers its first request, and hangs in every other one until it is let go."""

    def __init__(self) -> None:
        self.hangs, self.let_go = threading.Event(), threading.Event()
        self._asked = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self._asked += 1
        if self._asked > 1:
            self.hangs.set()
            self.let_go.wait(20)
        return httpx.Response(200, json={"keys": [public_jwk("k1")]})


def test_an_issuer_that_hangs_holds_up_nobody_whose_key_is_known() -> None:
    """One thread waits for it; the others go on with the key that is no longer fresh."""
    issuer, clock = Hanging(), Clock()
    keys = IssuerKeys(f"{ISSUER}/.well-known/jwks", transport=httpx.MockTransport(issuer), clock=clock)
    keys.find("k1")
    clock.at += FRESH_S
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(keys.find, "k1")
        assert issuer.hangs.wait(10)
        assert keys.find("k1") == private_key("k1").public_key()
        assert not waiting.done()
        issuer.let_go.set()
        assert waiting.result(10) == private_key("k1").public_key()


@pytest.mark.parametrize("status", [203, 204, 302, 404, 500])
def test_keys_in_any_other_answer_are_not_believed(publisher: Publisher, status: int) -> None:
    """A redirect or a cache in between may say anything."""
    publisher.fail(ISSUER, httpx.Response(status, json={"keys": [public_jwk("k1")]}))
    with pytest.raises(KeysUnavailableError, match=str(status)):
        keys_of(publisher, Clock()).find("k1")


def short_key() -> dict[str, object]:
    """A published key of 1,024 bits."""
    from jwt.algorithms import RSAAlgorithm

    key: dict[str, object] = RSAAlgorithm.to_jwk(private_key("short", 1_024).public_key(), as_dict=True)
    return key | {"kid": "short"}


def private_jwk() -> dict[str, object]:
    """A private key that somebody published."""
    from jwt.algorithms import RSAAlgorithm

    key: dict[str, object] = RSAAlgorithm.to_jwk(private_key("k1"), as_dict=True)
    return key | {"kid": "leaked"}


ODD_MEMBERS: dict[str, object] = {
    "not an object": "k",
    "no id": {**public_jwk("k1"), "kid": None},
    "id no text": public_jwk("k1", kid=7),
    "for encryption": public_jwk("k1", use="enc"),
    "for another algorithm": public_jwk("k1", alg="RS512"),
    "a shared secret": {"kty": "oct", "k": "AAAA", "kid": "k1"},
    "an elliptic curve": {"kty": "EC", "crv": "P-256", "kid": "k1"},
    "no modulus": {"kty": "RSA", "e": "AQAB", "kid": "k1"},
    "a modulus that is no number": public_jwk("k1", n="***"),
    "a modulus of another type": public_jwk("k1", n=5),
    "too short": short_key(),
    "a private key": private_jwk(),
}


@pytest.mark.parametrize("name", ODD_MEMBERS)
def test_members_that_are_no_key_for_us_are_passed_over(name: str) -> None:
    """The others of the set still count."""
    assert list(read_keys({"keys": [ODD_MEMBERS[name], public_jwk("good")]})) == ["good"]


@pytest.mark.parametrize("document", [None, [], "keys", {}, {"keys": {}}, {"keys": None}])
def test_what_is_no_key_set_holds_no_keys(document: object) -> None:
    """Whatever it is instead."""
    assert read_keys(document) == {}
