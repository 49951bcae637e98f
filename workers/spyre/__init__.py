"""The emulated device `spyre`: host memory presented to PyTorch as an out-of-tree accelerator.

Owns the device library (`native/`, built by `workers.spyre.build`), its loading and the module `torch.spyre`. It knows
nothing of tests, runs or the relay. `import torch` calls `autoload` through the entry point group `torch.backends`, in
every process of this environment; so importing this package must stay cheap, and a process that did not ask for the
device must not notice it.
"""

from __future__ import annotations

import os
from pathlib import Path

LIBRARY_VARIABLE = "SPYRE_LIBRARY"


def autoload() -> None:
    """Load the device when the environment variable `SPYRE_LIBRARY` names a built library, else do nothing.

    Raises `workers.spyre.load.DeviceLoadError`; torch then refuses to be imported and shows it as the cause.
    """
    library = os.environ.get(LIBRARY_VARIABLE)
    if not library:
        return
    from workers.spyre.load import load_device  # noqa: PLC0415 - only processes that ask for the device pay for it

    load_device(Path(library))
