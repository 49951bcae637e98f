"""The sentences about output that cannot be written. Standard library only, as `text.py`."""

from __future__ import annotations


def stdout_closed() -> str:
    return "standard output is closed, so the answer cannot be written"


def stdout_closed_hint() -> str:
    return "send it to a file, or to /dev/null when only the exit code counts"


def cannot_write(cause: str) -> str:
    return f"the answer cannot be written: {cause}"


def cannot_write_hint() -> str:
    return "check where the output goes, and how much room is left there"


def unusable_file(name: str, cause: str) -> str:
    return f"{name} cannot be used: {cause}"


def unusable_file_hint() -> str:
    return "check that it is there, is what it is taken for, and may be read or written by you"
