"""The sentences of `relay status` and `relay db`. Standard library only, as `text.py`."""

from __future__ import annotations


def service(health: str, url: str, version: str, device: str) -> str:
    return f"{health}  {url}, version {version}, device {device}"


def manifest_problem(problem: str) -> str:
    return f"manifests: the last good ones are in use: {problem}"


def under_way(count: int, *, more: bool) -> str:
    if not count:
        return "no run is under way"
    number = f"more than {count}" if more else str(count)
    return f"{number} {'run is' if number == '1' else 'runs are'} under way"


def waiting(device: str, count: int) -> str:
    return f"{count} {'waits' if count == 1 else 'wait'} for {device}, the next first"


def deep(device: str) -> str:
    return f"the queue of {device} is deep: audits are held, pull requests may plan less, nothing is dropped"


def newest_ended(run_id: int, state: str, headline: str) -> str:
    return f"newest that ended: run {run_id}  {state}  {headline}"


def dead_deliveries(count: int) -> str:
    return f"{count} {'delivery' if count == 1 else 'deliveries'} could not be sent"


def upgraded(url: str, before: str | None, after: str | None) -> str:
    if before == after:
        return f"{url} is at schema {after}, the newest"
    return f"{url} went from schema {before or 'none'} to {after}"


def schema_is_newer(url: str, revision: str) -> str:
    return f"{url} is at schema {revision}, which this version does not know"


def schema_is_newer_hint() -> str:
    return "a newer relay has upgraded it; install that version here"


def database_unreachable(url: str, cause: str) -> str:
    return f"the database {url} cannot be used: {cause}"
