"""Every sentence that `relay env` says beside its findings, as functions named after the situation.

Why an environment cannot be used is said by the workers' own program. Standard library only.
"""

from __future__ import annotations


def added(name: str, torch: str, python: str) -> str:
    return f"{name}: torch {torch}, Python {python}. Runs whose merge base is nearest to that torch are tested on it."


def removed(name: str) -> str:
    return f"{name} is no longer used; nothing in it was deleted"


def unusable(name: str, problem: str) -> str:
    return f"{name}: {problem}"


def program_failed(code: int) -> str:
    return f"python -m workers.environments.program ended with {code} and said nothing"
