"""The environment of a child, built from nothing: what is not named here does not reach test code.

A worker's environment holds its token and the broker's URL, and stray PYTORCH_ or TORCH_ variables change verdicts.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: The only variables taken over from the worker: where programs and shared libraries are found.
INHERITED = ("PATH", "LD_LIBRARY_PATH")

#: Marks every process that descends from one child, however often it forks or leaves its session.
COOKIE = "OOT_RUNNER_CHILD"

_FIXED = {
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTORCH_PRINT_REPRO_ON_FAILURE": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
}


def command() -> list[str]:
    """Unbuffered, for last words before a crash; `-P`, so that the folder the child runs in hides no module."""
    return [sys.executable, "-P", "-u", "-m", "workers.runner.child.program"]


def child_environment(
    *, device_library: Path | None, torch_path: Path | None, scratch: Path, cookie: str
) -> dict[str, str]:
    """Every variable of a child. With a device library PyTorch generates device tests for it alone, else for the CPU.

    `scratch` is an existing folder for this child; home and temporary files go into it.
    """
    home, temporary = scratch / "home", scratch / "tmp"
    home.mkdir()
    temporary.mkdir()
    environment = _FIXED | {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= {COOKIE: cookie, "HOME": str(home), "TMPDIR": str(temporary)}
    if torch_path is not None:
        environment["PYTHONPATH"] = str(torch_path)
    return environment | _device_variables(device_library)


def _device_variables(library: Path | None) -> dict[str, str]:
    if library is None:
        return {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1", "SPYRE_LIBRARY": str(library)}
