"""The callback endpoint as HTTP: what is read of a body, and the headers of refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from relay.settings import RelaySettings
from relay.web.callback import BODY_CAP
from tests.conftest import OpenApp

PATH = "/github/callback"
CHUNK = 64 * 1024


def chunks(total: int) -> Iterator[bytes]:
    """A body that does not announce its length."""
    for _ in range(total // CHUNK):
        yield b" " * CHUNK


@pytest.mark.parametrize(("total", "status"), [(BODY_CAP, 503), (BODY_CAP + CHUNK, 413), (BODY_CAP * 6, 413)])
def test_an_unannounced_body_is_bounded_too(client: TestClient, total: int, status: int) -> None:
    """A body within the cap goes on to the next check: this relay has no allowlist."""
    padded = chunks(total - CHUNK)

    def body() -> Iterator[bytes]:
        yield from padded
        yield b"{}" + b" " * (CHUNK - 2)

    assert client.post(PATH, content=body()).status_code == status


@pytest.mark.parametrize("length", ["99999999999", "9" * 30, "9" * 5_000])
def test_an_announced_length_beyond_all_bounds_is_refused_unread(client: TestClient, length: str) -> None:
    """Whatever the number."""
    answered = client.post(PATH, content=b"{}", headers={"Content-Length": length})
    assert answered.status_code == 413
    assert str(BODY_CAP) in answered.json()["detail"]


def test_a_relay_without_an_allowlist_takes_no_callbacks(client: TestClient) -> None:
    """It says why, and that this may change."""
    answered = client.post(PATH, json={})
    assert answered.status_code == 503
    assert "RELAY_ALLOWLIST_URL" in answered.json()["detail"]
    assert int(answered.headers["Retry-After"]) > 0


def test_addresses_are_counted_for_each_application(
    settings: RelaySettings, open_app: OpenApp, client: TestClient
) -> None:
    """Before anything of a body is read; what one application remembers is not another one's."""
    strangers = TestClient(open_app(settings.model_copy(update={"crcr_rate_per_min": 1})))
    assert [strangers.post(PATH, content=b"{").status_code for _ in range(11)] == [400] * 10 + [429]
    refused = strangers.post(PATH, content=b"{")
    assert 0 < int(refused.headers["Retry-After"]) <= 6
    assert client.post(PATH, content=b"{").status_code == 400


@pytest.mark.parametrize(("trusted", "last"), [("", 429), ("192.0.2.0/24", 400)])
def test_behind_a_proxy_that_is_named_each_caller_has_its_own_count(
    settings: RelaySettings, open_app: OpenApp, trusted: str, last: int
) -> None:
    app = open_app(settings.model_copy(update={"crcr_rate_per_min": 1, "trusted_proxies": trusted}))
    proxied = TestClient(app, client=("192.0.2.7", 4711))
    calls = [proxied.post(PATH, content=b"{", headers={"X-Forwarded-For": f"198.51.100.{n}"}) for n in range(11)]
    assert [call.status_code for call in calls] == [400] * 10 + [last]
