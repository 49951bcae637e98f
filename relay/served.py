"""The backends that this relay serves: which devices a change is tested on, each with its queue and its manifests.

Made once at the start, of the descriptions that the settings name, or of the settings of one device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from relay.contract import BackendDescription, BackendError, read_backends
from relay.errors import NotFoundError, SettingsError
from relay.manifests import ManifestStore
from relay.settings import RelaySettings


@dataclass(frozen=True, slots=True)
class ServedBackend:
    """One of them. `allowlist` is the repository that stands for it in a CRCR allowlist, empty for none."""

    device: str
    queue: str
    manifest_dir: Path
    manifests: ManifestStore
    allowlist: str = ""


def served_backends(settings: RelaySettings) -> tuple[ServedBackend, ...]:
    """All of them, in the order they are shown: first the one of `RELAY_DEVICE`, if it is one of several.

    Raises:
        SettingsError: a description cannot be used, or none is of the device that is to be the first.
    """
    described = descriptions(settings)
    if not described:
        only = settings.device
        return (ServedBackend(only, only, settings.manifest_dir, ManifestStore(settings.manifest_dir)),)
    return tuple(_served(one, settings.manifest_dir) for one in _main_first(described, settings))


def descriptions(settings: RelaySettings) -> Sequence[BackendDescription]:
    """What the files and folders of `RELAY_BACKENDS` say; nothing where that is not set. Raises SettingsError."""
    try:
        return read_backends(settings.backend_places) if settings.backend_places else ()
    except BackendError as error:
        raise SettingsError(f"RELAY_BACKENDS: {error}") from error


def not_served(device: str, served: Sequence[str]) -> NotFoundError:
    """The refusal of what is asked about a device that this relay has no backend for, or by its worker."""
    return NotFoundError(
        f"The device {device} is not served here.",
        f"Name one of {', '.join(served)}, or let the relay serve it (RELAY_BACKENDS, RELAY_DEVICE).",
    )


def with_main_device(settings: RelaySettings, served: Sequence[ServedBackend]) -> RelaySettings:
    """The settings as those see them that know of one device only: the first."""
    main = served[0]
    return settings.model_copy(update={"device": main.device, "manifest_dir": main.manifest_dir})


def _main_first(described: Sequence[BackendDescription], settings: RelaySettings) -> list[BackendDescription]:
    devices = [one.device for one in described]
    if settings.device not in devices and "device" in settings.model_fields_set:
        raise SettingsError(
            f"RELAY_DEVICE is {settings.device}, and RELAY_BACKENDS describes only {', '.join(devices)}. "
            "Describe it too, or leave RELAY_DEVICE out."
        )
    return sorted(described, key=lambda one: one.device != settings.device)


def _served(described: BackendDescription, usual: Path) -> ServedBackend:
    folder = described.manifests or usual
    return ServedBackend(
        described.device, described.queue_of_device, folder, ManifestStore(folder), described.allowlist or ""
    )
