"""The environment of a child, built from nothing: what is not named here does not reach test code.

A worker's environment holds its token and the broker's URL, and stray PYTORCH_ or TORCH_ variables change verdicts.
"""

from __future__ import annotations

import os
from pathlib import Path

from workers.runner.child import device, functions
from workers.runner.types import Installation

#: The only variables taken over from the worker: where programs and shared libraries are found.
INHERITED = ("PATH", "LD_LIBRARY_PATH")

#: Marks every process that descends from one warm parent, however often it forks or leaves its session.
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
    # The warm parent loads the device itself, from the library it is given; see `child.device`.
    "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}

#: An emulator that is installed beside another device's package does not take its place.
_NO_EMULATOR = {device.LIBRARY_VARIABLE: ""}


def command(python: Path, control: int, folders: tuple[Path, ...]) -> tuple[str, ...]:
    """The warm parent's program, which talks on the descriptor `control`, writes into the first of `folders`, and
    clears all of them after each child. Unbuffered, for last words before a crash; `-P`, so that the folder it runs in
    hides no module; `-B`, because a folder of bytecode may be shared with another tree."""
    return (str(python), "-P", "-B", "-u", "-m", "workers.runner.child.warm", str(control), *map(str, folders))


def child_environment(
    installation: Installation, *, torch_path: Path | None, staged: Path, cookie: str, recording: bool = False
) -> dict[str, str]:
    """Every variable of the warm parent and its children, but for home and temporary files, which are the sandbox's.

    With a device library or package PyTorch generates device tests for it alone, else for the CPU. `staged` holds our
    own code.
    """
    environment = _FIXED | {name: os.environ[name] for name in INHERITED if name in os.environ}
    path = [str(folder) for folder in (torch_path, staged) if folder is not None]
    environment |= {COOKIE: cookie, "PYTHONPATH": os.pathsep.join(path)}
    environment |= {functions.VARIABLE: "1"} if recording else {}
    environment |= {device.WEIGHTS_VARIABLE: str(installation.weights)} if installation.weights is not None else {}
    return environment | _device_variables(installation)


def _device_variables(installation: Installation) -> dict[str, str]:
    if installation.library is None and installation.package is None:
        return {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu"}
    if installation.library is None:
        told = f"{installation.device}={installation.package}"
        return {"PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1", device.PACKAGE_VARIABLE: told, **_NO_EMULATOR}
    return {
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1",
        "SPYRE_LIBRARY": str(installation.library.resolve()),
        "SPYRE_PROFILE": installation.profile,
    }
