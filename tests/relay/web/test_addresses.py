"""A caller's address is what the connection says, and only behind our own proxies what they say."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from relay.app import create_app
from relay.machine.listening import listen, url_of
from relay.machine.web_thread import web_thread
from relay.settings import RelaySettings
from relay.settings.proxies import proxy_networks
from relay.web.addresses import caller_behind
from tests.relay.web.signing_in import form_token

PROXIES = proxy_networks("10.0.0.0/8, fd00::/8,127.0.0.1")


@pytest.mark.parametrize(
    ("peer", "forwarded", "caller"),
    [
        # Somebody who is no proxy of ours says what it likes.
        ("192.0.2.9", ["198.51.100.1"], "192.0.2.9"),
        ("192.0.2.9", [], "192.0.2.9"),
        ("10.1.1.1", ["198.51.100.1"], "198.51.100.1"),
        # What stands left of our proxies' own words was written by the caller.
        ("10.1.1.1", ["1.1.1.1, 198.51.100.1"], "198.51.100.1"),
        ("10.1.1.1", ["1.1.1.1", "198.51.100.1"], "198.51.100.1"),
        ("10.1.1.1", ["10.9.9.9, 198.51.100.1"], "198.51.100.1"),
        ("10.1.1.1", ["198.51.100.1, 10.2.2.2, 127.0.0.1"], "198.51.100.1"),
        # All of them ours: the outermost.
        ("10.1.1.1", ["10.3.3.3,10.2.2.2"], "10.3.3.3"),
        ("10.1.1.1", [], "10.1.1.1"),
        # What is no address ends the reading.
        ("10.1.1.1", ["198.51.100.1, unknown"], "10.1.1.1"),
        ("10.1.1.1", ["198.51.100.1, unknown, 10.2.2.2"], "10.2.2.2"),
        ("10.1.1.1", [""], "10.1.1.1"),
        ("10.1.1.1", ["198.51.100.1,"], "10.1.1.1"),
        # As different proxies write addresses.
        ("10.1.1.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("10.1.1.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("10.1.1.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.1.1.1", ["2001:db8::1"], "2001:db8::1"),
        ("::ffff:10.1.1.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("fd00::7", ["2001:db8::1"], "2001:db8::1"),
        # More proxies than there can be.
        ("10.1.1.1", ["198.51.100.1" + ", 10.2.2.2" * 40], "10.2.2.2"),
        # A connection without an address.
        ("", ["198.51.100.1"], ""),
        ("testclient", ["198.51.100.1"], "testclient"),
    ],
)
def test_who_calls(peer: str, forwarded: list[str], caller: str) -> None:
    assert caller_behind(peer, forwarded, PROXIES) == caller


@given(st.lists(st.text(max_size=80), max_size=5))
def test_a_stranger_cannot_move_itself(forwarded: list[str]) -> None:
    """Whatever it writes, the proxy writes its address behind."""
    assert caller_behind("10.1.1.1", [*forwarded, "198.51.100.1"], PROXIES) == "198.51.100.1"
    assert caller_behind("192.0.2.9", forwarded, PROXIES) == "192.0.2.9"


@pytest.mark.parametrize("wrong", ["10.0.0.1/8", "proxy.example", "*", "10.0.0.0/8;fd00::/8", "10.0.0.0/33"])
def test_what_is_no_network_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValidationError, match="is no address and no network"):
        RelaySettings(trusted_proxies=wrong)


@pytest.mark.parametrize(("trusted", "told"), [("", [401, 401, 429]), ("127.0.0.0/8", [401, 401, 401])])
def test_the_server_itself_believes_nobody(
    settings: RelaySettings, monkeypatch: pytest.MonkeyPatch, trusted: str, told: list[int]
) -> None:
    """Over a socket of this machine, as a local proxy would call: without the setting all are one address."""
    monkeypatch.setattr("relay.access.sign_in_limit.PER_ADDRESS", 2)
    app = create_app(settings.model_copy(update={"trusted_proxies": trusted}))
    seen = []
    with (
        listen("127.0.0.1", 0) as listener,
        web_thread(app, listener, drain_s=1),
        httpx.Client(base_url=url_of("127.0.0.1", listener)) as client,
    ):
        for number in range(3):
            fields = {"form_token": form_token(client.get("/sign-in").text), "token": "wrong"}
            answer = client.post("/sign-in", data=fields, headers={"X-Forwarded-For": f"198.51.100.{number}"})
            seen.append(answer.status_code)
    assert seen == told
