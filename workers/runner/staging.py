"""Makes the child side importable for any Python: a folder that holds `workers` and says where the device is.

The environment the tests run in has torch and pytest and nothing of ours. Programs that tests start find the device by
the entry point described here, as they would where this package is installed.
"""

from __future__ import annotations

from pathlib import Path

import workers

_METADATA = "Metadata-Version: 2.1\nName: staged-spyre\nVersion: 0\n"
_ENTRY_POINTS = "[torch.backends]\nspyre = workers.spyre:autoload\n"


def code_folder() -> Path:
    """Where the package `workers` is."""
    return Path(workers.__path__[0]).resolve()


def stage(folder: Path) -> Path:
    """Fill `folder`, which is made here, for `PYTHONPATH`; `code_folder` has to be readable as well. Returns it."""
    description = folder / "staged_spyre-0.dist-info"
    description.mkdir(parents=True)
    (description / "METADATA").write_text(_METADATA)
    (description / "entry_points.txt").write_text(_ENTRY_POINTS)
    (folder / "workers").symlink_to(code_folder(), target_is_directory=True)
    return folder
