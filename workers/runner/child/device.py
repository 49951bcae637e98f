"""torch, with the device where one was given: imported by the warm parent, and made ready for programs of tests."""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path

LIBRARY_VARIABLE = "SPYRE_LIBRARY"
AUTOLOAD_VARIABLE = "TORCH_DEVICE_BACKEND_AUTOLOAD"


def import_torch() -> str:
    """Import torch and load the device explicitly, so that no entry point has to be installed here; why that cannot be,
    or an empty text. Programs that tests start get the device by the entry point that is staged with this package.
    """
    library = os.environ.get(LIBRARY_VARIABLE)
    try:
        importlib.import_module("torch")
        if library:
            # The module needs torch to be imported.
            importlib.import_module("workers.spyre.load").load_device(Path(library))
    except Exception:  # noqa: BLE001 - whatever it is, it is the answer
        return f"torch cannot be imported:\n{traceback.format_exc()}"
    if library:
        os.environ[AUTOLOAD_VARIABLE] = "1"
    return ""
