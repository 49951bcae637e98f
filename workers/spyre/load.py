"""Loads a built device library into the running torch and gives the device its Python face.

Runs inside `import torch`, after torch has defined everything but before the importing program goes on. It must not
build anything: a test process that starts must not wait for a compiler.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from workers.spyre.seal import SealError, read_seal

DEVICE_NAME = "spyre"
COUNT_VARIABLE = "SPYRE_DEVICE_COUNT"
MAX_DEVICES = 8

_REBUILD = "Build it with `python -m workers.spyre.build --cache DIR` and set SPYRE_LIBRARY to the path that it prints."


class DeviceLoadError(Exception):
    """The device cannot be used in this process; the message names the cause and the next step."""


def load_device(library: Path) -> None:
    """Register the device with torch; a second call in the same process does nothing. Raises `DeviceLoadError`."""
    if f"torch.{DEVICE_NAME}" in sys.modules:
        return
    import torch  # noqa: PLC0415 - the package must be importable without torch

    require_device_count(os.environ.get(COUNT_VARIABLE, "1"))
    require_built_for(library, str(torch.__version__))
    try:
        ctypes.CDLL(str(library.resolve()))
    except OSError as error:
        raise DeviceLoadError(f"the device library {library} cannot be loaded: {error}. {_REBUILD}") from error
    torch.utils.rename_privateuse1_backend(DEVICE_NAME)
    from workers.spyre import device  # noqa: PLC0415 - imports torch, and needs the operators of the library

    torch._register_device_module(DEVICE_NAME, device)
    torch.utils.generate_methods_for_privateuse1_backend()


def require_built_for(library: Path, torch_version: str) -> None:
    """Raise `DeviceLoadError` unless the file is an intact library built for exactly this torch."""
    try:
        built_for = read_seal(library)
    except SealError as error:
        raise DeviceLoadError(f"the device library {library} {error}. {_REBUILD}") from error
    if built_for != torch_version:
        raise DeviceLoadError(
            f"the device library {library} was built for torch {built_for}, this is torch {torch_version}. {_REBUILD}"
        )


def require_device_count(text: str) -> None:
    """Raise `DeviceLoadError` unless the text is a number of devices that can be emulated."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DEVICES):
        raise DeviceLoadError(
            f"{COUNT_VARIABLE} is {text[:40]!r}, the number of devices must be 1 to {MAX_DEVICES}. "
            "Correct it or unset it (one device)."
        )
