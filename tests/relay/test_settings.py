"""Settings: read from the environment, complete on a first start, silent about secrets."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from relay.errors import SettingsError
from relay.settings import SECRET_FILES, RelaySettings, with_secrets

#: The set-up is told by the variables that these tests set themselves.
pytestmark = pytest.mark.embedded("about what is set")


def _revealed(settings: RelaySettings) -> dict[str, str]:
    secrets = {name: getattr(settings, name) for name in SECRET_FILES}
    assert all(isinstance(secret, SecretStr) for secret in secrets.values())
    return {name: secret.get_secret_value() for name, secret in secrets.items()}


def test_everything_has_a_default_under_the_state_folder(tmp_path: Path) -> None:
    """One variable, or none, is enough for one machine."""
    settings = RelaySettings(state_dir=tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/relay.db"
    assert settings.broker_url == f"filesystem://{tmp_path}/broker"
    assert not settings.llm_configured


def test_the_environment_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Under the RELAY_ prefix; an empty variable counts as not set, and relative folders become absolute."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", "here")
    monkeypatch.setenv("RELAY_LEASE_SECONDS", "7.5")
    monkeypatch.setenv("RELAY_PUBLIC_URL", "https://relay.example/")
    monkeypatch.setenv("RELAY_DATABASE_URL", "")
    settings = RelaySettings()
    assert settings.state_dir == tmp_path / "here"
    assert settings.lease_seconds == 7.5
    assert settings.public_url == "https://relay.example"
    assert settings.database_url.startswith("sqlite:////")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lease_seconds", 0),
        ("max_attempts", 0),
        ("shard_size", 0),
        ("sweep_seconds", -1),
        ("webhook_max_bytes", 0),
        ("llm_model", "a model without a server"),
        ("llm_base_url", "http://127.0.0.1:9/v1"),
    ],
)
def test_senseless_values_are_refused(name: str, value: object) -> None:
    """At the start, not in the middle of a run."""
    with pytest.raises(ValidationError):
        RelaySettings.model_validate({name: value})


@pytest.mark.parametrize("name", SECRET_FILES)
def test_a_short_secret_is_refused_without_repeating_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The error names the setting and not its value."""
    monkeypatch.setenv(f"RELAY_{name.upper()}", "hunter2")
    with pytest.raises(ValidationError) as caught:
        RelaySettings()
    assert name in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_missing_secrets_are_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    """A second start finds the same ones."""
    settings = RelaySettings(state_dir=tmp_path / "new")
    first = _revealed(with_secrets(settings))
    assert len(set(first.values())) == 3
    assert _revealed(with_secrets(settings)) == first
    for file in SECRET_FILES.values():
        assert stat.S_IMODE((tmp_path / "new" / file).stat().st_mode) == 0o600
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(SECRET_FILES.values())


def test_given_secrets_are_kept(tmp_path: Path) -> None:
    """And no file is made for them."""
    given = SecretStr("a-worker-token-of-our-own")
    settings = with_secrets(RelaySettings(state_dir=tmp_path, worker_token=given))
    assert settings.worker_token == given
    assert not (tmp_path / "worker-token").exists()


def test_processes_that_start_at_once_agree_on_the_secrets(tmp_path: Path) -> None:
    """Exactly one of them makes each."""
    settings = RelaySettings(state_dir=tmp_path / "new")
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(lambda _: _revealed(with_secrets(settings)), range(16)))
    assert all(secrets == seen[0] for secrets in seen)


def test_an_unusable_state_folder_is_said_with_the_variable(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SettingsError, match="RELAY_STATE_DIR"):
        with_secrets(RelaySettings(state_dir=tmp_path / "file"))


def test_an_emptied_secret_file_is_not_a_secret(tmp_path: Path) -> None:
    """An empty token would let everybody in."""
    (tmp_path / "worker-token").write_text("\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="worker-token"):
        with_secrets(RelaySettings(state_dir=tmp_path))


def test_no_secret_shows_in_repr(tmp_path: Path) -> None:
    """Not the tokens, not the key, not the passwords in URLs."""
    settings = with_secrets(
        RelaySettings(
            state_dir=tmp_path,
            database_url="postgresql://relay:db-password@db/relay",
            broker_url="redis://:broker-password@broker/0",
            llm_base_url="http://llm/v1",
            llm_model="m",
            llm_api_key=SecretStr("key-of-the-model"),
        )
    )
    shown = repr(settings) + str(settings)
    for secret in (*_revealed(settings).values(), "db-password", "broker-password", "key-of-the-model"):
        assert secret not in shown
