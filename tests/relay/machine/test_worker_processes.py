"""A worker is told where things are, and no secret's value."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import broker_connection
from relay.machine.worker_processes import (
    ensure_broker_folder,
    ensure_token_file,
    handed_addresses,
    worker_environment,
    worker_specs,
)
from relay.settings import RelaySettings, with_secrets
from tests.conftest import WORKER_TOKEN
from workers.settings import WorkerSettings


def test_environment_names_places_and_holds_no_secret(settings: RelaySettings) -> None:
    """The token is a file's name; secrets of the relay and of the machine stay behind; tuning passes."""
    parent = {
        "PATH": "/bin",
        "RELAY_WEBHOOK_SECRET": "geheim",
        "RELAY_DATABASE_URL": "geheim",
        "GITHUB_TOKEN": "geheim",
        "RELAY_TEST_TIMEOUT_S": "5",
        "RELAY_MANIFEST_PROFILE": "strict",
    }
    environment = worker_environment(settings, "http://127.0.0.1:1", Path("/token"), parent)
    assert environment == {
        "PATH": "/bin",
        "RELAY_TEST_TIMEOUT_S": "5",
        "RELAY_MANIFEST_PROFILE": "strict",
        "RELAY_URL": "http://127.0.0.1:1",
        "RELAY_BROKER_URL": settings.broker_url,
        "RELAY_WORKER_TOKEN_FILE": "/token",
        "RELAY_DEVICE": "spyre",
        "RELAY_WORK_DIR": str(settings.state_dir / "work"),
        "PYTHONUNBUFFERED": "1",
    }


def test_an_addresss_password_is_in_no_environment(settings: RelaySettings) -> None:
    """It goes by a file without a name, which a worker reads like any other."""
    url, proxy = "redis://:the-password@queue:6379/0", "http://me:the-password@proxy:3128"
    given, parent = settings.model_copy(update={"broker_url": url}), {"RELAY_GIT_PROXY": proxy}
    with handed_addresses(given, parent) as handed:
        environment = worker_environment(given, "http://127.0.0.1:1", Path("/token"), parent, handed)
        assert "the-password" not in str(environment)
        assert Path(environment["RELAY_BROKER_URL_FILE"]).read_text() == url
        assert Path(environment["RELAY_GIT_PROXY_FILE"]).read_text() == proxy
    with handed_addresses(settings, {"RELAY_GIT_PROXY": "http://proxy:3128"}) as nothing:
        assert nothing == {}


@pytest.mark.parametrize("name", sorted(set(WorkerSettings.model_fields) - {"worker_token"}))
def test_every_setting_of_a_worker_reaches_it(settings: RelaySettings, name: str) -> None:
    """Those that say where things are are made, all others pass. The token itself goes by its file."""
    variable = f"RELAY_{name.upper()}"
    assert variable in worker_environment(settings, "http://127.0.0.1:1", Path("/token"), {variable: "given"})


def test_each_worker_has_its_own_log(settings: RelaySettings) -> None:
    """Two workers, two names, two files, and no token in what they are started with."""
    settings.state_dir.mkdir()
    specs = worker_specs(settings, "http://127.0.0.1:1", 2)
    assert len({spec.log_file for spec in specs}) == len({spec.name for spec in specs}) == 2
    assert all(WORKER_TOKEN not in str((spec.command, spec.environment)) for spec in specs)


def test_each_backend_has_its_own_workers(
    settings: RelaySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by their file, and by nothing that is about the device of another."""
    for device in ("quartz", "spyre"):
        (tmp_path / f"{device}.yaml").write_text(f"device: {device}\npackage: workers.spyre\n")
    settings.state_dir.mkdir()
    monkeypatch.setenv("RELAY_DEVICE", "spyre")
    monkeypatch.setenv("RELAY_DEVICE_PROFILE", "spyre-2026-06")
    given = settings.model_copy(update={"backends": str(tmp_path)})
    specs = worker_specs(given, "http://127.0.0.1:1", 2)
    quartz, spyre = str(tmp_path / "quartz.yaml"), str(tmp_path / "spyre.yaml")
    assert [spec.environment["RELAY_BACKEND"] for spec in specs] == [quartz, quartz, spyre, spyre]
    assert len({spec.name for spec in specs}) == len({spec.log_file for spec in specs}) == 4
    assert not {"RELAY_DEVICE", "RELAY_DEVICE_PROFILE"} & set(specs[0].environment)


def test_token_given_as_a_setting_is_written_for_the_workers(settings: RelaySettings) -> None:
    """Private, and apart from the file of the token that the state folder made; also on a machine that has none yet."""
    assert not settings.state_dir.exists()
    file = ensure_token_file(settings)
    assert file.read_text().strip() == WORKER_TOKEN
    assert file.stat().st_mode & 0o777 == 0o600
    assert settings.state_dir.stat().st_mode & 0o777 == 0o700
    assert file.name != "worker-token"


def test_token_of_the_state_folder_is_used_as_it_is(tmp_path: Path) -> None:
    """No second copy of a secret that is a file already."""
    settings = with_secrets(RelaySettings(state_dir=tmp_path))
    assert ensure_token_file(settings) == tmp_path / "worker-token"


def test_broker_folders_are_made_again(tmp_path: Path) -> None:
    """All folders of a file-system broker; nothing for a server."""
    broker = broker_connection(f"filesystem://{tmp_path / 'broker'}")
    ensure_broker_folder(broker)
    ensure_broker_folder(broker)
    assert sorted(path.name for path in (tmp_path / "broker").iterdir()) == ["control", "messages"]
    ensure_broker_folder(broker_connection("redis://127.0.0.1:1/0"))
