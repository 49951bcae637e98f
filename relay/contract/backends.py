"""A backend's description: the file that names a device and what testing it takes, read by relay and workers alike.

Both are told by the same file, so that they cannot differ about a device. Paths in it are relative to its own folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from relay.contract.texts import SHORT_CAP, Message

#: The emulated device of this project: workers build it for each torch, under the name that the description gives.
EMULATOR = "workers.spyre"
#: PyTorch's own: its tests run on it without anything of ours, for a look at what is the device's doing.
REFERENCE_DEVICE = "cpu"
DEVICE_NAME = r"^[a-z][a-z0-9_]{0,30}$"

_MODULE = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$"
_REPOSITORY = r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$"
_SIZE_CAP = 64 * 1024
_SUFFIXES = ("*.yaml", "*.yml")


class BackendError(Exception):
    """A description cannot be used; the message names the file, what is wrong with it, and the next step."""


class BackendDescription(Message):
    """One backend. `package` is imported after torch and registers the device; the reference device has none.

    `profile` is the emulator's set of rules, by name or file. `manifests` is the folder of what the device can do, None
    for the relay's own. `queue` names the queue that wakes its workers, the device's name if left out. `allowlist` is
    the repository that stands for the backend in a CRCR allowlist.
    """

    device: Annotated[str, Field(pattern=DEVICE_NAME)]
    package: Annotated[str, Field(pattern=_MODULE, max_length=SHORT_CAP)] | None = None
    profile: Annotated[str, Field(min_length=1, max_length=SHORT_CAP)] = "compat"
    manifests: Path | None = None
    queue: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")] = ""
    allowlist: Annotated[str, Field(pattern=_REPOSITORY, max_length=SHORT_CAP)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.package is None) is not (self.device == REFERENCE_DEVICE):
            wanted = "needs no package" if self.package else "needs a package, which registers it when it is imported"
            raise ValueError(f"the device {self.device} {wanted}")
        if self.package != EMULATOR and "profile" in self.model_fields_set:
            raise ValueError(f"only the emulator has profiles; leave it out, or take the package {EMULATOR}")
        return self

    @property
    def queue_of_device(self) -> str:
        """The name to give to `queue_name`."""
        return self.queue or self.device


def read_backend(file: Path) -> BackendDescription:
    """The description in a file, with whole paths. Raises `BackendError`."""
    try:
        with file.open("rb") as stream:
            data = stream.read(_SIZE_CAP + 1)
        found = yaml.safe_load(data) if len(data) <= _SIZE_CAP else None
    except OSError as error:
        raise BackendError(
            f"The backend {file} cannot be read: {error.strerror}. Give the path of its file."
        ) from error
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f":{where.line + 1}" if where is not None else ""
        raise BackendError(f"{file}{line}: this is no YAML. Compare it with deploy/backends/spyre.yaml.") from error
    try:
        description = BackendDescription.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        what = ".".join(map(str, first["loc"])) or "the file"
        said = first["msg"].removeprefix("Value error, ")
        raise BackendError(f"{file}: {what}: {said}. Compare it with deploy/backends/spyre.yaml.") from error
    return _with_whole_paths(description, file.absolute().parent)


def read_backends(places: Sequence[Path]) -> tuple[BackendDescription, ...]:
    """The descriptions in these files and folders, in their order, those of a folder by name.

    Raises `BackendError`, also for none at all, and for two of one device or one queue.
    """
    files = backend_files(places)
    if not files:
        raise BackendError(f"There is no backend in {', '.join(map(str, places))}. Put a file like spyre.yaml there.")
    found = tuple(read_backend(file) for file in files)
    for number, (file, one) in enumerate(zip(files, found, strict=True)):
        for other in found[:number]:
            if one.device == other.device:
                raise BackendError(f"{file}: the device {one.device} is described twice. Remove one of the files.")
            if one.queue_of_device == other.queue_of_device:
                raise BackendError(
                    f"{file}: {one.device} and {other.device} have the same queue, so that one would be woken for the "
                    "other. Give each a queue of its own, or none, which is the device's name."
                )
    return found


def backend_files(places: Sequence[Path]) -> list[Path]:
    """The files that `read_backends` reads, in its order."""
    return [file for place in places for file in (_files_in(place) if place.is_dir() else (place,))]


def _files_in(folder: Path) -> list[Path]:
    """Hidden ones are left out: there a mounted ConfigMap keeps its second copy."""
    return sorted(file for suffix in _SUFFIXES for file in folder.glob(suffix) if not file.name.startswith("."))


def _with_whole_paths(description: BackendDescription, folder: Path) -> BackendDescription:
    whole: dict[str, object] = {}
    if description.manifests is not None:
        whole["manifests"] = (folder / description.manifests.expanduser()).resolve()
    if description.profile.endswith(".toml"):
        whole["profile"] = str((folder / Path(description.profile).expanduser()).resolve())
    return description.model_copy(update=whole)
