"""`relay doctor` on secrets: weak, shared and readable ones are told by name, and none by its value."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import SecretStr

from relay.cli.secret_checks import check_secret_files, check_secrets, weakness
from relay.settings import RelaySettings, with_secrets

STRONG = tuple(secrets.token_urlsafe(32) for _ in range(4))


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that others may pass, as the state folder of a service may be."""
    with TemporaryDirectory(dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_strong_secrets_are_quiet(tmp_path: Path) -> None:
    given = RelaySettings(
        state_dir=tmp_path,
        webhook_secret=SecretStr(STRONG[0]),
        worker_token=SecretStr(STRONG[1]),
        operator_token=SecretStr(STRONG[2]),
        database_url=f"postgresql://relay:{STRONG[3]}@db.example/relay",
    )
    found = check_secrets(given)
    assert (found.status, found.detail, found.next_step) == ("ok", "4 given, none of them weak", "")
    assert check_secrets(with_secrets(RelaySettings(state_dir=tmp_path / "made"))).status == "ok"


@pytest.mark.parametrize(
    ("secret", "why"),
    [
        ("short", "fewer than 16"),
        ("a" * 40, "few different characters"),
        ("abababababababababababab", "few different characters"),
        ("please-changeme-now-1234", "an example"),
        ("your-webhook-secret-here", "an example"),
        ("postgres12345678", "an example"),
    ],
)
def test_what_is_weak_and_why(secret: str, why: str) -> None:
    assert why in weakness(secret, 16)


@pytest.mark.parametrize(
    ("made_by", "size"), [(secrets.token_urlsafe, 16), (secrets.token_hex, 16), (secrets.token_hex, 32)]
)
def test_what_is_made_at_random_is_strong(made_by: Callable[[int], str], size: int) -> None:
    secret = made_by(size)
    assert weakness(secret, 16) == ""


def test_weak_and_shared_ones_are_told_by_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("RELAY_WEBHOOK_SECRET", STRONG[0])
    monkeypatch.setenv("RELAY_HUD_KEY", STRONG[0])
    monkeypatch.setenv("RELAY_HUD_INTAKE_KEY", "tiny")
    monkeypatch.setenv("RELAY_DATABASE_URL", "postgresql://relay:relay@db.example/relay")
    monkeypatch.setenv("RELAY_BROKER_URL", "redis://cache.example:6379/0")
    (tmp_path / "worker-token").write_text("changeme-changeme-changeme\n")
    found = check_secrets(RelaySettings())
    assert found.status == "warn"
    for said in (
        "RELAY_HUD_INTAKE_KEY has fewer than 16 characters",
        "the password in RELAY_DATABASE_URL has fewer",
        f"{tmp_path / 'worker-token'} is an example",
        "RELAY_WEBHOOK_SECRET and RELAY_HUD_KEY are the same value",
        "RELAY_BROKER_URL has no password, and cache.example is another machine",
    ):
        assert said in found.detail
    assert not [secret for secret in (STRONG[0], "tiny", "relay:relay", "changeme") if secret in str(found)]


def test_files_for_their_owner_alone_are_quiet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = with_secrets(RelaySettings(state_dir=folder))
    assert check_secret_files(settings).detail == "3 files, for their owner alone"
    given = folder / "given"
    given.write_text(STRONG[0])
    given.chmod(0o644)
    monkeypatch.setenv("RELAY_HUD_KEY_FILE", str(given))
    found = check_secret_files(settings)
    assert (found.status, found.next_step) == ("warn", f"chmod 600 {given}")
    given.chmod(0o600)
    assert check_secret_files(settings).status == "ok"


def test_files_of_a_folder_of_secrets_are_looked_at(folder: Path) -> None:
    (folder / "hud_key").write_text(STRONG[0])
    (folder / "hud_key").chmod(0o604)
    found = check_secret_files(RelaySettings(state_dir=folder / "state", secrets_dir=folder))
    assert (found.status, str(folder / "hud_key") in found.detail) == ("warn", True)
