"""What the relay protocol asks of the settings, and what is refused in any case."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from relay.errors import SettingsError
from relay.settings import RelaySettings, missing_for_protocol, require_comments, require_protocol

PAGE = "https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml"
WHOLE = {
    "github_app_id": 4711,
    "webhook_secret": SecretStr("a-secret-of-16-characters"),
    "github_app_private_key": SecretStr("a key"),
    "allowlist_url": PAGE,
}


def test_a_whole_protocol() -> None:
    """Nothing is missing."""
    settings = RelaySettings.model_validate(WHOLE)
    assert missing_for_protocol(settings) == ()
    require_protocol(settings)


@pytest.mark.parametrize("name", WHOLE)
def test_a_part_that_is_missing_is_named(name: str) -> None:
    """Under both names, so that it is found in either environment."""
    settings = RelaySettings.model_validate({other: value for other, value in WHOLE.items() if other != name})
    (missing,) = missing_for_protocol(settings)
    assert missing.startswith(f"RELAY_{name.upper()} (or ")
    with pytest.raises(SettingsError, match=f"RELAY_{name.upper()}"):
        require_protocol(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowlist_url", "https://example.com/list"),
        ("allowlist_url", "https://raw.githubusercontent.com/a/b/main/x"),
        ("ci_providers_url", "list.yml"),
        ("hud_url", "http://hud.pytorch.org/api"),
        ("hud_url", "hud"),
        ("dev_oidc_issuer", "https://token.example.com"),
        ("github_api_url", "api.github.com"),
        ("github_web_url", ""),
        ("github_app_id", 0),
        ("upstream_repo", "pytorch"),
        ("upstream_repo", "a/b/c"),
        ("allowlist_ttl_s", 0),
        ("crcr_rate_per_min", 0),
        ("crcr_dispatch_workers", "many"),
        *(("comment_commands", value) for value in ("on", "upstream,", "off,upstream", "a/b/c", "a b/c", "a/b;c/d")),
    ],
)
def test_a_value_that_cannot_work_is_refused(name: str, value: object) -> None:
    """At the start, with the setting's name."""
    with pytest.raises(ValidationError) as caught:
        RelaySettings.model_validate({name: value})
    assert [item["loc"] for item in caught.value.errors()] == [(name,)]


def test_a_short_time_to_live_is_raised() -> None:
    """In the settings already, so that what is shown is what holds."""
    assert RelaySettings(allowlist_ttl_s=1).allowlist_ttl_s == 900
    assert RelaySettings(allowlist_ttl_s=901).allowlist_ttl_s == 901


def test_lists_of_a_github_of_ones_own_and_of_this_machine(tmp_path: Path) -> None:
    """Are as good as GitHub's."""
    own = RelaySettings(github_web_url="http://127.0.0.1:3000/", allowlist_url="http://127.0.0.1:3000/a/b/blob/m/x")
    assert own.github_web_url == "http://127.0.0.1:3000"
    file = (tmp_path / "list.yml").as_uri()
    assert RelaySettings(allowlist_url=file, ci_providers_url=file).allowlist_url == file
    with pytest.raises(ValidationError):
        RelaySettings(github_web_url="http://127.0.0.1:3000", allowlist_url=PAGE)


@pytest.mark.parametrize("value", ["off", "upstream", "acme/torch-acme", "upstream, acme/torch-acme"])
def test_comments_are_read_where_it_says(value: str) -> None:
    assert RelaySettings.model_validate(WHOLE | {"comment_commands": value}).comment_commands == value


def test_a_relay_like_the_original_takes_no_commands() -> None:
    """It does not start, rather than to read none without a word."""
    with pytest.raises(ValidationError, match="RELAY_COMMENT_COMMANDS and RELAY_CRCR_STRICT_COMPAT exclude"):
        RelaySettings.model_validate(WHOLE | {"comment_commands": "upstream", "crcr_strict_compat": True})


def test_comments_are_answered_by_an_app() -> None:
    require_comments(RelaySettings.model_validate(WHOLE))
    with pytest.raises(SettingsError, match="RELAY_GITHUB_APP_ID, RELAY_GITHUB_APP_PRIVATE_KEY, RELAY_ALLOWLIST_URL"):
        require_comments(RelaySettings())
