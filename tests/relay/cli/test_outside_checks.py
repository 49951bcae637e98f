"""`relay doctor` on what others say: each answer is one line with a next step, and no secret is in any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import SecretStr

from relay.cli.check import Check
from relay.cli.checks import check_model
from relay.cli.outside_checks import check_device, check_github
from relay.settings import RelaySettings
from tests.relay.serving import serving
from tests.relay.stand_in import closed_port

Provider = Literal["openai", "anthropic"]
SECRET = "the-key-of-the-model"


@pytest.fixture(scope="module")
def key() -> SecretStr:
    made = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return SecretStr(pem.decode())


@contextmanager
def answering(status: int) -> Iterator[tuple[str, list[Request]]]:
    """Whoever is asked, it answers so."""
    app, asked = FastAPI(), list[Request]()

    @app.get("/{path:path}")
    def answer(request: Request) -> Response:
        asked.append(request)
        return JSONResponse({"name": "our App", "message": "said so"}, status)

    with serving(app) as url:
        yield url, asked


def app_of(url: str, key: SecretStr) -> RelaySettings:
    return RelaySettings(github_app_id=7, github_app_private_key=key, github_api_url=url)


def test_github_knows_the_app(key: SecretStr) -> None:
    with answering(200) as (url, asked):
        assert check_github(app_of(url, key)) == Check("github app", "ok", "our App (7)")
    assert [request.url.path for request in asked] == ["/app"]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_github_does_not_take_the_key(key: SecretStr, status: int) -> None:
    with answering(status) as (url, _):
        found = check_github(app_of(url, key))
    assert (found.status, "of the same App" in found.next_step) == ("fail", True)
    assert str(status) in found.detail


def test_a_github_that_is_away_is_a_warning(key: SecretStr) -> None:
    """What is to be sent waits for it."""
    with closed_port() as url:
        found = check_github(app_of(url, key))
    assert (found.status, url in found.next_step) == ("warn", True)
    with answering(502) as (url, _):
        assert check_github(app_of(url, key)).status == "warn"


def test_no_app_half_an_app_and_no_key(key: SecretStr) -> None:
    assert check_github(RelaySettings()).status == "ok"
    assert check_github(RelaySettings(github_app_id=7)).status == "fail"
    found = check_github(RelaySettings(github_app_id=7, github_app_private_key=SecretStr("geheim")))
    assert (found.status, "geheim" in found.detail + found.next_step) == ("fail", False)


def model_at(url: str, provider: Provider) -> RelaySettings:
    return RelaySettings(llm_base_url=f"{url}/v1", llm_model="m", llm_provider=provider, llm_api_key=SecretStr(SECRET))


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [("openai", "authorization", f"Bearer {SECRET}"), ("anthropic", "x-api-key", SECRET)],
)
@pytest.mark.parametrize("status", [200, 404])
def test_a_model_that_is_there(provider: Provider, header: str, value: str, status: int) -> None:
    """Asked for its list, which costs nothing, in its own way. One without a list is there all the same."""
    with answering(status) as (url, asked):
        found = check_model(model_at(url, provider))
    assert found == Check("model", "ok", f"m at {url}/v1 ({provider})")
    assert [(request.url.path, request.headers[header]) for request in asked] == [("/v1/models", value)]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_that_does_not_take_the_key_or_is_away(provider: Provider) -> None:
    """The first is a fault, the second is not: the offline ranker answers."""
    with answering(401) as (url, _):
        refused = check_model(model_at(url, provider))
    with answering(503) as (url, _):
        broken = check_model(model_at(url, provider))
    with closed_port() as url:
        away = check_model(model_at(url, provider))
    assert [found.status for found in (refused, broken, away)] == ["fail", "warn", "warn"]
    assert "RELAY_LLM_API_KEY" in refused.next_step
    assert not [found for found in (refused, broken, away) if SECRET in f"{found}"]


def test_a_device_that_is_not_built_or_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only machines that run tests need it."""
    monkeypatch.delenv("SPYRE_LIBRARY", raising=False)
    monkeypatch.setenv("RELAY_DEVICE_CACHE", str(tmp_path))
    found = check_device()
    assert (found.status, "not built" in found.detail, "relay device build" in found.next_step) == ("warn", True, True)
    monkeypatch.setenv("SPYRE_LIBRARY", "")
    found = check_device()
    assert (found.status, "SPYRE_LIBRARY is empty" in found.detail) == ("warn", True)
