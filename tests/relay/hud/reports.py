"""Envelopes as a relay posts them, for the tests of the results side."""

from __future__ import annotations

from typing import Any

SHA = "a" * 40
REPO = "a/l2"


def envelope(
    status: str = "in_progress",
    *,
    repo: str = REPO,
    level: str | None = "L2",
    delivery: str = "d1",
    event: str | None = "pull_request",
    payload: dict[str, Any] | None = None,
    queue_time: Any = None,
    execution_time: Any = None,
    top: dict[str, Any] | None = None,
    **workflow: Any,
) -> dict[str, Any]:
    """One report about job `build` of workflow `CI`. Values that are `...` leave their key out; `top` adds keys beside
    `workflow`."""
    told = {
        "status": status,
        "name": "CI",
        "url": "https://github.com/a/l2/actions/runs/100",
        "job_name": "build",
        "check_run_id": "900",
        "run_id": "100",
        "run_attempt": 1,
    } | workflow
    callback: dict[str, Any] = {
        "delivery_id": delivery,
        "payload": pull() if payload is None else payload,
        "workflow": {key: value for key, value in told.items() if value is not ...},
        **({} if event is None else {"event_type": event}),
        **(top or {}),
    }
    trusted: dict[str, Any] = {
        "verified_repo": repo,
        "ci_metrics": {"queue_time": queue_time, "execution_time": execution_time},
        **({} if level is None else {"downstream_repo_level": level}),
    }
    return {"trusted": trusted, "untrusted": {"callback_payload": callback}}


def pull(number: int = 7, sha: str = SHA, repo: str = "pytorch/pytorch") -> dict[str, Any]:
    """The echo of a pull request's event."""
    return {"pull_request": {"number": number, "head": {"sha": sha}}, "repository": {"full_name": repo}}
