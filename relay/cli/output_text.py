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
