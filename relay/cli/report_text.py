"""The sentences about what answered for a run and where its report went. Standard library only, as `text.py`."""

from __future__ import annotations


def tested_on(name: str, torch: str, sha: str, python: str, profile: str) -> str:
    parts = [name, f"torch {torch}{f' ({sha[:10]})' if sha else ''}"]
    parts += [f"Python {python}"] if python else []
    return ", ".join([*parts, f"device profile {profile}"] if profile else parts)


def weak_sandbox(worker: str, shards: int, sandbox: str) -> str:
    whose = f" on {worker} ({shards} {'shard' if shards == 1 else 'shards'})" if worker else ""
    lacking = "a sandbox" if sandbox.partition(":")[0] == "none" else "a whole sandbox"
    return f"warning: test processes{whose} were not in {lacking} ({sandbox})"


def report_written(run_id: int, file: str) -> str:
    return f"run {run_id} is written to {file}"


def report_unwritable(file: str, reason: str) -> str:
    return f"the report cannot be written to {file}: {reason}"


def report_unwritable_hint() -> str:
    return "name a file in a folder that exists and may be written to"
