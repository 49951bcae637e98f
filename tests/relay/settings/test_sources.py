"""Where values come from: our variables, then the original relay's, then the folder of secrets."""

from __future__ import annotations

from pathlib import Path
from traceback import format_exception

import pytest
from pydantic import SecretStr, ValidationError
from pydantic_settings import SettingsError as UnreadableVariable

from relay.cli.connect import BadSettings, load_settings
from relay.settings import RelaySettings, variable_of
from relay.settings.original import ALL_NAMES, ORIGINAL_NAMES
from relay.settings.secret_folder import SECRETS

#: The set-up is told by the variables that these tests set themselves.
pytestmark = pytest.mark.embedded("about what is set")

PEM = "-----BEGIN RSA PRIVATE KEY-----\nof no use\n-----END RSA PRIVATE KEY-----"
#: The original's environment, whole, and what we make of it.
ORIGINAL = {
    "UPSTREAM_REPO": ("upstream_repo", "a/upstream", "a/upstream"),
    "GITHUB_APP_SECRET": ("webhook_secret", "a-secret-of-16-characters", SecretStr("a-secret-of-16-characters")),
    "GITHUB_APP_ID": ("github_app_id", "4711", 4711),
    "GITHUB_APP_PRIVATE_KEY": ("github_app_private_key", PEM, SecretStr(PEM)),
    "ALLOWLIST_URL": ("allowlist_url", "https://github.com/a/b/blob/m/x", "https://github.com/a/b/blob/m/x"),
    "ALLOWLIST_TTL_SECONDS": ("allowlist_ttl_s", "1200", 1200),
    "CI_PROVIDERS_URL": ("ci_providers_url", "https://github.com/a/b/blob/m/y", "https://github.com/a/b/blob/m/y"),
    "HUD_API_URL": ("hud_url", "https://hud.example/api/", "https://hud.example/api"),
    "HUD_BOT_KEY": ("hud_key", "k", SecretStr("k")),
    "INTERNAL_API_TOKEN": ("hud_intake_key", "t", SecretStr("t")),
    "HUD_MAX_RETRIES": ("hud_max_retries", "0", 0),
    "MAX_DISPATCH_WORKERS": ("crcr_dispatch_workers", "3", 3),
    "CRCR_STATUS_TTL": ("crcr_status_ttl_s", "4", 4),
    "RATE_LIMIT_PER_MIN": ("crcr_rate_per_min", "5", 5),
    "ZOMBIE_TIMEOUT_SECONDS": ("crcr_zombie_timeout_s", "6", 6),
    "MAX_CLEANUP_WORKERS": ("crcr_cleanup_workers", "7", 7),
    "IN_PROGRESS_WARN_THRESHOLD": ("crcr_in_progress_warn", "8", 8),
    "REDIS_ENDPOINT": ("broker_url", "cache", "redis://:p@cache:6379/0"),
    "REDIS_LOGIN": ("broker_url", "p", "redis://:p@cache:6379/0"),
}


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of secrets, named by its variable."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    monkeypatch.setenv("RELAY_SECRETS_DIR", str(folder))
    return folder


def test_the_originals_environment_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable it reads means the same here, and none of them is forgotten by this test."""
    for variable, (_, text, _) in ORIGINAL.items():
        monkeypatch.setenv(variable, text)
    settings = RelaySettings()
    assert {name: getattr(settings, name) for name, _, _ in ORIGINAL.values()} == {
        name: value for name, _, value in ORIGINAL.values()
    }
    assert set(ORIGINAL) == ALL_NAMES - {"SECRET_STORE_ARN", "AWS_LAMBDA_FUNCTION_NAME"}


@pytest.mark.parametrize("variable", ORIGINAL_NAMES.values())
def test_our_own_variable_goes_first(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """And what the caller gives goes before both; an empty variable is none, ours or the original's."""
    name, text, value = ORIGINAL[variable]
    monkeypatch.setenv(variable, "never used, and would be refused")
    monkeypatch.setenv(f"RELAY_{name.upper()}", text)
    assert getattr(RelaySettings(), name) == value
    monkeypatch.delenv(f"RELAY_{name.upper()}")
    assert getattr(RelaySettings.model_validate({name: value}), name) == value
    default = RelaySettings.model_fields[name].default
    monkeypatch.setenv(variable, "")
    assert getattr(RelaySettings(), name) == default


@pytest.mark.parametrize(
    "variable", ["GITHUB_APP_ID", "RATE_LIMIT_PER_MIN", "ALLOWLIST_TTL_SECONDS", "HUD_MAX_RETRIES"]
)
@pytest.mark.parametrize("own", [False, True])
def test_a_wrong_value_is_told_by_the_name_it_was_given(
    monkeypatch: pytest.MonkeyPatch, variable: str, own: bool
) -> None:
    """The original's where that was used; the value is not repeated."""
    name = ORIGINAL[variable][0]
    used = f"RELAY_{name.upper()}" if own else variable
    monkeypatch.setenv(used, "-7hunter")
    with pytest.raises(BadSettings) as caught:
        load_settings()
    assert f"{used}: " in caught.value.message
    assert "hunter" not in caught.value.message


def test_a_wrong_endpoint_is_told_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless our own broker makes it irrelevant."""
    monkeypatch.setenv("REDIS_ENDPOINT", "redis://:hunter@cache")
    with pytest.raises(BadSettings, match="REDIS_ENDPOINT: must be host") as caught:
        load_settings()
    assert "hunter" not in caught.value.message
    monkeypatch.setenv("RELAY_BROKER_URL", "redis://own/0")
    assert load_settings().broker_url == "redis://own/0"


def test_on_a_lambda_the_redis_link_is_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with the original, which takes the platform's variable for a sign."""
    monkeypatch.setenv("REDIS_ENDPOINT", "cache")
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "callback")
    assert RelaySettings().broker_url.startswith("rediss://cache:6379/0?")


def test_the_originals_key_alone_means_its_own_results_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """It forwards there unless told otherwise; nobody else's results leave without being asked to."""
    assert RelaySettings().hud_url == ""
    monkeypatch.setenv("RELAY_HUD_KEY", "ours")
    assert RelaySettings().hud_url == ""
    monkeypatch.delenv("RELAY_HUD_KEY")
    monkeypatch.setenv("HUD_BOT_KEY", "theirs")
    assert RelaySettings().hud_url == "https://hud.pytorch.org/api"
    monkeypatch.setenv("HUD_API_URL", "")
    assert RelaySettings().hud_url == ""


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_comes_from_its_file(secrets: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Without the newline at its end. A variable goes first, and then the file is not even read."""
    if name == "llm_base_url":  # it may hold a login, and is nothing without a model
        monkeypatch.setenv("RELAY_LLM_MODEL", "m")
    file = secrets / name
    file.write_text("sqlite:////a-secret-of-16-characters\n", encoding="utf-8")
    found = getattr(RelaySettings(), name)
    assert (found if isinstance(found, str) else found.get_secret_value()) == "sqlite:////a-secret-of-16-characters"
    assert variable_of(name) == f"RELAY_{name.upper()} or its file in RELAY_SECRETS_DIR"
    file.write_bytes(b"\xff never decoded")
    monkeypatch.setenv(f"RELAY_{name.upper()}", "sqlite:////of-the-environment-itself")
    given = getattr(RelaySettings(), name)
    assert (given if isinstance(given, str) else given.get_secret_value()) == "sqlite:////of-the-environment-itself"
    assert variable_of(name) == f"RELAY_{name.upper()}"


@pytest.mark.parametrize("spelling", ["webhook_secret", "webhook-secret", "RELAY_WEBHOOK_SECRET", "GITHUB_APP_SECRET"])
def test_a_file_may_be_spelt_as_stores_want_it(secrets: Path, spelling: str) -> None:
    """With dashes, in capitals, with the prefix, or under the original's name."""
    (secrets / spelling).write_text("a-secret-of-16-characters", encoding="utf-8")
    assert RelaySettings().webhook_secret == SecretStr("a-secret-of-16-characters")


def test_the_originals_variable_goes_before_a_file(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment has the word, whoever's name is used."""
    (secrets / "webhook_secret").write_text("of-the-folder-of-secrets", encoding="utf-8")
    monkeypatch.setenv("GITHUB_APP_SECRET", "of-the-environment-itself")
    assert RelaySettings().webhook_secret == SecretStr("of-the-environment-itself")


def test_the_login_of_redis_may_be_a_file(secrets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the fourth of the original's secrets."""
    (secrets / "REDIS_LOGIN").write_text("user:word\n", encoding="utf-8")
    monkeypatch.setenv("REDIS_ENDPOINT", "cache")
    assert RelaySettings().broker_url == "redis://user:word@cache:6379/0"


def test_only_secrets_come_from_the_folder(secrets: Path) -> None:
    """Links and folders of a mount, empty files and other names are passed over."""
    (secrets / "upstream_repo").write_text("a/b", encoding="utf-8")
    (secrets / "UPSTREAM_REPO").write_text("a/b", encoding="utf-8")
    (secrets / "hud_key").write_text("\n", encoding="utf-8")
    (secrets / "..data").mkdir()
    settings = RelaySettings()
    assert settings.upstream_repo == "pytorch/pytorch"
    assert settings.hud_key is None


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"hud_key": b"\xffhunter"}, "hud_key is not UTF-8 text"),
        ({"hud_key": b"hunter" * 20_000}, "hud_key is larger than 64 KiB"),
        ({"hud_key": b"hunter", "HUD-KEY": b"hunter"}, "HUD-KEY and hud_key are the same secret"),
    ],
)
def test_a_folder_that_cannot_be_used(secrets: Path, files: dict[str, bytes], says: str) -> None:
    """Is told by its variable and the file's name, never by what is in it, not even in a traceback."""
    for name, content in files.items():
        (secrets / name).write_bytes(content)
    with pytest.raises(BadSettings) as caught:
        load_settings()
    assert f"RELAY_SECRETS_DIR: {says}" in caught.value.message
    with pytest.raises(UnreadableVariable) as raw:
        RelaySettings()
    assert "hunter" not in "".join(format_exception(raw.value))


def test_a_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A mount that failed must not look like a choice."""
    monkeypatch.setenv("RELAY_SECRETS_DIR", str(tmp_path / "missing"))
    with pytest.raises(BadSettings, match="RELAY_SECRETS_DIR: the folder cannot be listed"):
        load_settings()


def test_a_store_that_is_not_read_does_not_lead_to_made_up_secrets(
    secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every webhook would fail its signature. With the secrets at hand the store does not matter."""
    monkeypatch.setenv("SECRET_STORE_ARN", "arn:aws:secretsmanager:us-east-1:1:secret:crcr")
    monkeypatch.setenv("GITHUB_APP_PRIVATE_KEY", PEM)
    with pytest.raises(BadSettings, match=r"SECRET_STORE_ARN: .* GITHUB_APP_SECRET must .* RELAY_SECRETS_DIR"):
        load_settings()
    (secrets / "GITHUB_APP_SECRET").write_text("a-secret-of-16-characters", encoding="utf-8")
    assert load_settings().webhook_secret == SecretStr("a-secret-of-16-characters")


def test_a_short_secret_in_a_file_is_refused_without_repeating_it(secrets: Path) -> None:
    """As one in a variable."""
    (secrets / "operator_token").write_text("hunter2", encoding="utf-8")
    with pytest.raises(ValidationError) as caught:
        RelaySettings()
    assert "hunter2" not in str(caught.value)
