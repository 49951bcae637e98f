"""Webhook and callback bodies of the rows: pull request 7 at `S1`, delivery `d1`, run 100, attempt 1, workflow `CI`,
job `build`, unless a test says otherwise."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

UPSTREAM = "pytorch/pytorch"
S1 = "1" * 40
S2 = "2" * 40
BASE = "b" * 40
ZERO = "0" * 40
PR = 7
DELIVERY = "d1"

_TEMPLATE = json.loads(
    (Path(__file__).parents[2] / "relay/demo/payloads/pull_request.opened.json")
    .read_text(encoding="utf-8")
    .replace("pytorch/pytorch-like", UPSTREAM)
)


def pull_request(
    action: str = "opened", *, sha: str = S1, number: int = PR, labels: tuple[str, ...] = (), **changes: Any
) -> dict[str, Any]:
    """GitHub's `pull_request` body. `changes` replace top-level keys."""
    payload: dict[str, Any] = copy.deepcopy(_TEMPLATE)
    payload |= {"action": action, "number": number}
    payload["pull_request"] |= {"number": number, "labels": [_label(name) for name in labels]}
    payload["pull_request"]["head"]["sha"] = sha
    payload["pull_request"]["base"]["sha"] = BASE
    return payload | changes


def labeled(label: str, *, sha: str = S1, number: int = PR, **changes: Any) -> dict[str, Any]:
    """A label was added to the pull request."""
    return pull_request("labeled", sha=sha, number=number, labels=(label,), label=_label(label), **changes)


def push(ref: str = "refs/heads/main", *, after: str = S1, before: str = BASE, **changes: Any) -> dict[str, Any]:
    """GitHub's `push` body."""
    commit = {"id": after, "message": "Move on", "added": [], "removed": [], "modified": ["torch/a.py"]}
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "base_ref": None,
        "created": False,
        "deleted": after == ZERO,
        "forced": False,
        "commits": [] if after == ZERO else [commit],
        "head_commit": None if after == ZERO else commit,
        "repository": copy.deepcopy(_TEMPLATE["repository"]),
        "sender": copy.deepcopy(_TEMPLATE["sender"]),
    } | changes


def callback(
    status: str = "in_progress",
    *,
    delivery: str = DELIVERY,
    payload: Mapping[str, Any] | None = None,
    event_type: str = "pull_request",
    **workflow: Any,
) -> dict[str, Any]:
    """A backend's answer: the dispatch's envelope with a `workflow`. `workflow` arguments add or replace its keys; one
    that is `...` takes the key away."""
    told: dict[str, Any] = {
        "schema_version": "1",
        "status": status,
        "conclusion": "success" if status == "completed" else None,
        "name": "CI",
        "url": "https://github.com/a/l2/actions/runs/100",
        "run_id": "100",
        "run_attempt": "1",
        "job_name": "build",
        "check_run_id": "900",
        "started_at": "2026-11-02T09:30:00.000000Z" if status == "in_progress" else None,
        "completed_at": "2026-11-02T09:31:00.000000Z" if status == "completed" else None,
    }
    told = {key: value for key, value in (told | workflow).items() if value is not ...}
    return {"event_type": event_type, "delivery_id": delivery, "payload": payload or pull_request(), "workflow": told}


def nightly(
    sha: str = S1, *, event_type: str = "nightly", status: str = "completed", **workflow: Any
) -> dict[str, Any]:
    """A self-report of a scheduled run."""
    payload = {"repository": {"full_name": UPSTREAM}, "head_sha": sha}
    at = "2026-11-02T09:31:00.000000Z"
    told = {"started_at": at, "completed_at": at} | workflow
    return callback(status, delivery=sha, payload=payload, event_type=event_type, **told)


def _label(name: str) -> dict[str, Any]:
    return {"id": 1, "name": name, "color": "ededed", "default": False, "description": "says what it says"}
