"""Rows CF: what a relay must be told, where secrets come from, and which values are refused by which name.

The original's own variables are used: its environment is to be kept when an operator moves over.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from relay.app import create_app
from relay.cli.connect import BadSettings, load_settings
from relay.crcr.hud_forward import is_on, results_url
from relay.errors import SettingsError
from relay.settings import RelaySettings, missing_for_protocol
from tests.conformance.answering import dispatched, report
from tests.conformance.tokens import Tokens
from tests.conformance.world import World
from tests.conftest import OpenApp
from tests.relay.settings.test_protocol import PAGE

SECRET = "a-secret-of-16-characters"
VALUES = {
    "GITHUB_APP_ID": "4711",
    "GITHUB_APP_SECRET": SECRET,
    "REDIS_LOGIN": "user:word",
    "HUD_BOT_KEY": "key",
    "ALLOWLIST_URL": PAGE,
    "REDIS_ENDPOINT": "cache.example",
}


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """The one row that needs a whole relay is about one that forwards nothing."""
    return conformance_settings.model_copy(update={"hud_url": ""})


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """Nothing of the protocol is set, nor the broker, whose address the original's variables say."""
    monkeypatch.delenv("RELAY_BROKER_URL", raising=False)
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path / "state"))
    return monkeypatch


@pytest.fixture
def whole(environment: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """All that the original requires is set, as it requires it."""
    for variable, value in {**VALUES, "GITHUB_APP_PRIVATE_KEY": _pem()}.items():
        environment.setenv(variable, value)
    return environment


def _pem() -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    (key, *_) = Tokens().keys.values()
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def refusal() -> str:
    """Why the environment is refused."""
    with pytest.raises(BadSettings) as caught:
        load_settings()
    return caught.value.message


@pytest.mark.row("CF01")
@pytest.mark.parametrize("like_the_original", ["", "1"])
def test_all_that_is_required_is_enough(whole: pytest.MonkeyPatch, open_app: OpenApp, like_the_original: str) -> None:
    """The values are read, upstream has its default, and the relay starts, also as the original's equal."""
    whole.setenv("RELAY_CRCR_STRICT_COMPAT", like_the_original)
    settings = load_settings()
    assert (settings.github_app_id, settings.webhook_secret) == (4711, SecretStr(SECRET))
    assert (settings.allowlist_url, settings.allowlist_ttl_s) == (PAGE, 900)
    assert (settings.broker_url, settings.hud_key) == ("redis://user:word@cache.example:6379/0", SecretStr("key"))
    assert settings.upstream_repo == "pytorch/pytorch"
    assert missing_for_protocol(settings) == ()
    assert open_app(settings).state.relay.crcr.github is not None


@pytest.mark.row("CF02")
def test_a_relay_like_the_original_refuses_to_start_with_nothing(
    environment: pytest.MonkeyPatch, open_app: OpenApp
) -> None:
    """Every variable is named. One that is only for its own machine starts: it dispatches to nobody."""
    settings = load_settings()
    assert [name.partition(" ")[0] for name in missing_for_protocol(settings)] == [
        "RELAY_GITHUB_APP_ID",
        "RELAY_WEBHOOK_SECRET",
        "RELAY_GITHUB_APP_PRIVATE_KEY",
        "RELAY_ALLOWLIST_URL",
    ]
    assert open_app(settings).state.relay.crcr is None
    environment.setenv("RELAY_CRCR_STRICT_COMPAT", "1")
    with pytest.raises(SettingsError, match=r"GITHUB_APP_ID.*GITHUB_APP_PRIVATE_KEY.*ALLOWLIST_URL"):
        create_app(load_settings())


@pytest.mark.row("CF03")
def test_secrets_come_from_the_store_once(whole: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The store is a folder of files under the original's names; what the environment has is not even read there."""
    folder, kept = tmp_path / "secrets", load_settings()
    folder.mkdir()
    for variable in ("GITHUB_APP_SECRET", "GITHUB_APP_PRIVATE_KEY", "REDIS_LOGIN"):
        (folder / variable).write_text({**VALUES, "GITHUB_APP_PRIVATE_KEY": _pem()}[variable], encoding="utf-8")
        whole.delenv(variable)
    (folder / "HUD_BOT_KEY").write_bytes(b"\xff is in the environment")
    whole.setenv("RELAY_SECRETS_DIR", str(folder))
    settings = load_settings()
    assert (settings.webhook_secret, settings.broker_url) == (kept.webhook_secret, kept.broker_url)
    assert settings.github_app_private_key is not None
    assert settings.hud_key == SecretStr("key")
    (folder / "GITHUB_APP_SECRET").unlink()
    assert settings.webhook_secret == SecretStr(SECRET)


@pytest.mark.row("CF04")
def test_a_short_time_to_live_is_raised_and_none_is_refused(whole: pytest.MonkeyPatch) -> None:
    whole.setenv("ALLOWLIST_TTL_SECONDS", "10")
    assert load_settings().allowlist_ttl_s == 900
    whole.setenv("ALLOWLIST_TTL_SECONDS", "0")
    assert "ALLOWLIST_TTL_SECONDS: " in refusal()


@pytest.mark.row("CF05")
def test_the_results_service_is_reached_safely_or_not_at_all(whole: pytest.MonkeyPatch) -> None:
    whole.setenv("HUD_API_URL", "http://hud.example/api")
    assert "HUD_API_URL: must start with https://" in refusal()
    for slashes in ("", "/", "///"):
        whole.setenv("HUD_API_URL", f"https://hud.example/api{slashes}")
        assert results_url(load_settings()) == "https://hud.example/api/crcr/results"
    whole.setenv("HUD_API_URL", "")
    assert not is_on(load_settings())


@pytest.mark.row("CF05")
def test_without_a_results_service_callbacks_are_answered_as_usual(world: World) -> None:
    """And nothing leaves."""
    dispatched(world)
    answered = report(world)
    assert (answered.status_code, answered.json()["status"]) == (200, "in_progress")
    assert world.hud.tries == []


@pytest.mark.row("CF06")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GITHUB_APP_ID", "app"),
        ("ALLOWLIST_TTL_SECONDS", "15m"),
        ("MAX_DISPATCH_WORKERS", "0"),
        ("HUD_MAX_RETRIES", "-1"),
        ("CRCR_STATUS_TTL", "3.5"),
        ("RATE_LIMIT_PER_MIN", "-100"),
        ("ZOMBIE_TIMEOUT_SECONDS", "six"),
        ("MAX_CLEANUP_WORKERS", "0"),
        ("IN_PROGRESS_WARN_THRESHOLD", "1e3"),
    ],
)
def test_a_bad_number_is_told_by_its_variable(whole: pytest.MonkeyPatch, variable: str, value: str) -> None:
    whole.setenv(variable, value)
    said = refusal()
    assert f"{variable}: " in said
    assert f"'{value}'" not in said


@pytest.mark.row("CF07")
@pytest.mark.parametrize(
    ("endpoint", "url"),
    [("cache", "redis://user:word@cache:6379/0"), ("cache.example:7000", "redis://user:word@cache.example:7000/0")],
)
def test_an_endpoint_is_a_host_with_or_without_a_port(whole: pytest.MonkeyPatch, endpoint: str, url: str) -> None:
    whole.setenv("REDIS_ENDPOINT", endpoint)
    assert load_settings().broker_url == url


@pytest.mark.row("CF07")
@pytest.mark.parametrize("endpoint", ["redis://cache:6379", "cache/0", "cache:0", "cache:70000", "cache:port", ""])
def test_an_endpoint_is_nothing_else(whole: pytest.MonkeyPatch, endpoint: str) -> None:
    whole.setenv("REDIS_ENDPOINT", endpoint)
    assert "REDIS_ENDPOINT: must be host or host:port" in refusal()
