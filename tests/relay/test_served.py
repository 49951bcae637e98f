"""Which backends a relay serves, by its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.app import create_context
from relay.errors import SettingsError
from relay.served import served_backends
from relay.settings import RelaySettings


@pytest.fixture
def backends(tmp_path: Path) -> Path:
    """A folder that describes two devices, the second with a queue and manifests of its own."""
    folder = tmp_path / "backends"
    folder.mkdir()
    (folder / "spyre.yaml").write_text("device: spyre\npackage: workers.spyre\n")
    (folder / "quartz.yaml").write_text(
        "device: quartz\npackage: torch_quartz\nqueue: stones\nmanifests: stones\nallowlist: acme/torch-quartz\n"
    )
    return folder


def test_one_device_is_served_as_its_settings_say(settings: RelaySettings) -> None:
    (only,) = served_backends(settings.model_copy(update={"device": "quartz"}))
    assert (only.device, only.queue, only.manifest_dir) == ("quartz", "quartz", settings.manifest_dir)


def test_described_ones_are_served_the_usual_one_first(settings: RelaySettings, backends: Path) -> None:
    spyre, quartz = served_backends(settings.model_copy(update={"backends": str(backends)}))
    assert (spyre.device, spyre.queue, spyre.manifest_dir) == ("spyre", "spyre", settings.manifest_dir)
    assert (quartz.device, quartz.queue, quartz.manifest_dir) == ("quartz", "stones", backends / "stones")
    assert quartz.allowlist == "acme/torch-quartz"


def test_who_knows_of_one_device_only_sees_the_first(settings: RelaySettings, backends: Path) -> None:
    context = create_context(settings.model_copy(update={"backends": str(backends / "quartz.yaml")}))
    assert context.devices == ("quartz",)
    assert (context.settings.device, context.settings.manifest_dir) == ("quartz", backends / "stones")
    assert context.backend_of("spyre") is None
    context.close()


def test_a_usual_device_that_is_not_described_is_refused(settings: RelaySettings, backends: Path) -> None:
    given = RelaySettings(**settings.model_dump(exclude_unset=True), device="basalt", backends=str(backends))
    with pytest.raises(SettingsError, match="RELAY_DEVICE is basalt, and RELAY_BACKENDS describes only"):
        served_backends(given)


def test_a_description_that_cannot_be_used_names_the_setting(settings: RelaySettings, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="RELAY_BACKENDS: The backend"):
        served_backends(settings.model_copy(update={"backends": str(tmp_path / "absent.yaml")}))
