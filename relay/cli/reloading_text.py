"""The words of `--reload`."""

from __future__ import annotations


def changed(path: str) -> str:
    return f"{path} changed, starting again"


def ended(code: int) -> str:
    return f"the service ended with {code}; waiting for a change"
