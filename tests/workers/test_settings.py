"""Settings: where they come from, what is refused, and that secrets stay masked."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import EMULATOR
from workers.settings import SettingsError, WorkerSettings, load_settings


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RELAY_WORKER_TOKEN_FILE", raising=False)
    monkeypatch.setenv("RELAY_URL", "http://127.0.0.1:8000/")
    monkeypatch.setenv("RELAY_BROKER_URL", "redis://:broker-password@queue:6379/0")
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "the-token")


def test_the_environment_is_read() -> None:
    settings = load_settings()
    assert (settings.url, settings.token, settings.device) == ("http://127.0.0.1:8000", "the-token", "spyre")
    assert settings.work_dir.is_absolute()


@pytest.mark.parametrize("profile", ["spyre-2026-06", "mine.toml"])
def test_a_profile_is_a_name_or_a_file_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, profile: str) -> None:
    monkeypatch.setenv("RELAY_DEVICE_PROFILE", profile)
    expected = str(Path.cwd() / profile) if profile.endswith(".toml") else profile
    assert load_settings().device_profile == expected


@pytest.fixture
def quartz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of a device that is no emulator's, which the worker is told of."""
    file = tmp_path / "quartz.yaml"
    file.write_text("device: quartz\npackage: torch_quartz\nqueue: stones\n")
    monkeypatch.setenv("RELAY_BACKEND", str(file))
    return file


def test_a_backend_says_what_its_workers_need(quartz: Path) -> None:
    settings = load_settings()
    assert (settings.device, settings.package, settings.queue) == ("quartz", "torch_quartz", "stones")
    assert settings.device_profile == ""
    quartz.write_text("device: quartz\npackage: workers.spyre\nprofile: spyre-2026-06\n")
    settings = load_settings()
    assert (settings.package, settings.queue, settings.device_profile) == (EMULATOR, "quartz", "spyre-2026-06")


def test_without_one_the_device_is_the_emulator_or_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (load_settings().package, load_settings().queue) == (EMULATOR, "spyre")
    monkeypatch.setenv("RELAY_DEVICE", "cpu")
    assert (load_settings().package, load_settings().queue) == (None, "cpu")


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("RELAY_DEVICE", "spyre", "RELAY_DEVICE is spyre, and RELAY_BACKEND describes quartz"),
        ("RELAY_DEVICE_PROFILE", "compat", "RELAY_DEVICE_PROFILE is compat, and RELAY_BACKEND describes none"),
        ("RELAY_BACKEND", "/absent.yaml", "RELAY_BACKEND: The backend /absent.yaml cannot be read"),
    ],
)
def test_what_contradicts_the_backend_is_refused(
    monkeypatch: pytest.MonkeyPatch, quartz: Path, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=sentence):
        load_settings()


def test_secrets_are_not_shown() -> None:
    shown = repr(load_settings()) + str(load_settings()) + load_settings().model_dump_json()
    assert "the-token" not in shown
    assert "broker-password" not in shown


def test_the_token_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-the-file\n")
    monkeypatch.delenv("RELAY_WORKER_TOKEN")
    monkeypatch.setenv("RELAY_WORKER_TOKEN_FILE", str(tmp_path / "token"))
    assert load_settings().token == "from-the-file"


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("RELAY_URL", None, "RELAY_URL is not set"),
        ("RELAY_URL", "ftp://x", "RELAY_URL: must start with http"),
        ("RELAY_BROKER_URL", None, "RELAY_BROKER_URL is not set"),
        ("RELAY_WORKER_TOKEN", None, "set RELAY_WORKER_TOKEN, or RELAY_WORKER_TOKEN_FILE"),
        ("RELAY_WORKER_TOKEN", "", "set RELAY_WORKER_TOKEN, or RELAY_WORKER_TOKEN_FILE"),
        ("RELAY_WORKER_CONCURRENCY", "0", "RELAY_WORKER_CONCURRENCY: Input should be greater"),
        ("RELAY_DEVICE", "../x", "RELAY_DEVICE: String should match"),
        ("RELAY_MANIFEST_PROFILE", "loose", "RELAY_MANIFEST_PROFILE: Input should be 'compat' or 'strict'"),
        ("RELAY_SANDBOX", "maybe", "RELAY_SANDBOX: Input should be 'auto', 'required' or 'off'"),
        ("RELAY_LOG_LEVEL", "LOUD", "RELAY_LOG_LEVEL: must be one of"),
    ],
)
def test_a_wrong_setting_is_one_sentence_that_names_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None, sentence: str
) -> None:
    if value is None:
        monkeypatch.delenv(variable)
    else:
        monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=sentence) as caught:
        load_settings()
    assert "broker-password" not in str(caught.value)


def test_an_unreadable_token_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RELAY_WORKER_TOKEN")
    monkeypatch.setenv("RELAY_WORKER_TOKEN_FILE", str(tmp_path / "absent"))
    with pytest.raises(SettingsError, match=r"RELAY_WORKER_TOKEN_FILE: .*/absent cannot be read: No such file"):
        load_settings()


def test_the_broker_may_come_from_a_file_but_nothing_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broker").write_text("redis://:of-the-file@queue:6379/0\n")
    monkeypatch.setenv("RELAY_BROKER_URL_FILE", str(tmp_path / "broker"))
    with pytest.raises(SettingsError, match="RELAY_BROKER_URL and RELAY_BROKER_URL_FILE are both set"):
        load_settings()
    monkeypatch.delenv("RELAY_BROKER_URL")
    assert load_settings().broker_url.get_secret_value() == "redis://:of-the-file@queue:6379/0"
    assert set(load_settings().own_secrets()) == {"the-token", "of-the-file"}


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        WorkerSettings.model_validate({}).device = "other"
