"""Every sentence that `relay device` says beside its findings, as functions named after the situation.

What is wrong with a library or a compiler is said by the device's own programs. Standard library only.
"""

from __future__ import annotations


def status(torch: str, devices: int, profile: str, library: str) -> str:
    if not devices:
        return f"torch {torch or 'not installed'}, no device"
    count = "1 device" if devices == 1 else f"{devices} devices"
    return f"torch {torch}, {count}, profile {profile}, {library}"


def works(devices: int) -> str:
    return "an addition on it gives the right sum" if devices == 1 else "an addition on each gives the right sum"


def library_problem(path: str, problem: str) -> str:
    return f"{path} {problem}"


def not_built(wanted: str, problem: str) -> str:
    return problem or f"`import torch` looks for {wanted}, which is not here; `relay device build` makes it"


def process_died() -> str:
    return "the process that imported torch died without an answer"


def rebuild_hint() -> str:
    return "delete the library that `relay device list` marks, run `relay device build`, and try again"


def program_failed(module: str, code: int) -> str:
    return f"python -m {module} ended with {code} and said nothing"
