"""`python -m workers.spyre.self_test`: import torch as any program does, use the device, say in JSON what came of it.

Exit code 0 when the device works, else 1 with the cause under `problem`. For people `relay device status` shows it.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from typing import Any

from workers.spyre.load import LIBRARY_VARIABLE, DeviceLoadError, find_library, load_device
from workers.spyre.naming import device_name
from workers.spyre.profile import DEFAULT_PROFILE, PROFILE_VARIABLE

#: Of each kind one: elementwise, with two operands and one, a product, a reduction, one that only looks.
_OPERATIONS = ("mul", "relu", "matmul", "sum", "t")
_OF_ONE = frozenset({"relu", "sum", "t"})
_NO_ENTRY_POINT = "`import torch` does not find the device; install this package with pip, a copy of it is not enough"


@dataclass(frozen=True, slots=True)
class Report:
    """What a process of this environment gets. `problem` is empty when every device computed what the CPU does, in as
    many `operations` as the profile has of those that are tried."""

    torch: str
    library: str = ""
    profile: str = ""
    devices: int = 0
    problem: str = ""
    operations: int = 0


def examine() -> Report:
    """Import torch and compute on every device."""
    try:
        import torch  # noqa: PLC0415 - that it can be imported is part of the question
    except (ImportError, OSError) as error:
        return Report("", problem=f"torch cannot be imported: {error}")
    version = str(torch.__version__)
    if switch := _switched_off():
        return Report(version, problem=f"{switch} the device off; unset it")
    try:
        library = find_library()
        if not hasattr(torch, device_name()):
            load_device(library)  # says why the device is not there, or gives it
            return Report(version, str(library), problem=_NO_ENTRY_POINT)
    except DeviceLoadError as error:
        return Report(version, problem=str(error))
    devices = int(getattr(torch, device_name()).device_count())
    tried: set[str] = set()
    try:
        wrong = [index for index in range(devices) if not _adds_up(torch, index)]
        problem = f"device {wrong[0]} adds wrongly" if wrong else ""
        tried = {"add"}
        for index in range(devices):
            differing = _compared(torch, index, tried)
            problem = problem or (f"device {index} has another {differing} than the CPU" if differing else "")
    except RuntimeError as error:
        problem = f"an addition fails: {str(error).splitlines()[0]}"
    profile = os.environ.get(PROFILE_VARIABLE) or DEFAULT_PROFILE
    return Report(version, str(library), profile, devices, problem, len(tried))


def _adds_up(torch: Any, index: int) -> bool:
    """In float16, which every profile can add."""
    host = torch.arange(4.0, dtype=torch.float16)
    device = f"{device_name()}:{index}"
    total = host.to(device) + host.to(device)
    return str(total.device) == device and bool(total.cpu().tolist() == [0.0, 2.0, 4.0, 6.0])


def _compared(torch: Any, index: int, tried: set[str]) -> str:
    """The first operation whose result is not the CPU's. What the profile refuses by a rule is not tried."""
    left = torch.linspace(-2.0, 2.0, 16, dtype=torch.float16).reshape(4, 4)
    right = torch.linspace(1.0, 3.0, 16, dtype=torch.float16).reshape(4, 4)
    device = f"{device_name()}:{index}"
    for name in _OPERATIONS:
        operation, operands = getattr(torch, name), (left, right)[: 1 if name in _OF_ONE else 2]
        expected = operation(*operands)
        try:
            found = operation(*(operand.to(device) for operand in operands)).cpu()
        except (RuntimeError, NotImplementedError):
            continue
        tried.add(name)
        if not torch.allclose(found.float(), expected.float(), rtol=0.01, atol=0.01):
            return name
    return ""


def _switched_off() -> str:
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") != "1":
        return "TORCH_DEVICE_BACKEND_AUTOLOAD switches"
    return f"{LIBRARY_VARIABLE} is empty, which switches" if os.environ.get(LIBRARY_VARIABLE) == "" else ""


def main() -> int:
    """Entry point of `python -m workers.spyre.self_test`."""
    report = examine()
    sys.stdout.write(json.dumps(asdict(report)) + "\n")
    return 1 if report.problem else 0


if __name__ == "__main__":
    sys.exit(main())
