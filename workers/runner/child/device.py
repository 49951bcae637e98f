"""torch, with the device where one was given: imported by the warm parent, and made ready for programs of tests."""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path

LIBRARY_VARIABLE = "SPYRE_LIBRARY"
AUTOLOAD_VARIABLE = "TORCH_DEVICE_BACKEND_AUTOLOAD"
#: `DEVICE=PACKAGE`: what is imported for a device that is not the emulator.
PACKAGE_VARIABLE = "OOT_RUNNER_DEVICE_PACKAGE"
#: The folder that names of weights begin in.
WEIGHTS_VARIABLE = "OOT_RUNNER_WEIGHTS"


def import_torch() -> str:
    """Import torch and load the device explicitly, so that no entry point has to be installed here; why that cannot be,
    or an empty text. Programs that tests start get the device by the entry point that is staged with this package.
    """
    library = os.environ.get(LIBRARY_VARIABLE)
    device, _, package = os.environ.get(PACKAGE_VARIABLE, "").partition("=")
    try:
        importlib.import_module("torch")
        if library:
            # The module needs torch to be imported.
            importlib.import_module("workers.spyre.load").load_device(Path(library))
        if package:
            importlib.import_module(package)
    except Exception:  # noqa: BLE001 - whatever it is, it is the answer
        return f"torch cannot be imported:\n{traceback.format_exc()}"
    if package and (found := _out_of_tree_device()) != device:
        return f"the package {package} registers the device {found}, and the backend describes {device}"
    if library or package:
        os.environ[AUTOLOAD_VARIABLE] = "1"
    return ""


def _out_of_tree_device() -> str:
    """The name of the one that torch has room for."""
    return str(importlib.import_module("torch")._C._get_privateuse1_backend_name())
