"""A report as it is posted, flattened to the columns of a row (crcr-protocol 1.6, 1.7).

Pure: no record, no clock. A column that a report says nothing about is absent, so that a later report does not erase
what an earlier one told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from relay.allowlist.types import repo_key
from relay.contract import SHORT_CAP
from relay.hud import untrusted
from relay.hud.errors import HudError
from relay.store.crcr_models import DELIVERY_CAP, REPO_CAP, RUN_ID_CAP
from relay.store.models import ID_CAP

UPSTREAM_REPO = "pytorch/pytorch"
COMPLETED = "completed"
IN_PROGRESS = "in_progress"
#: Events that a backend reports of its own accord: there is no delivery, and no check run, behind them.
SELF_REPORTED = frozenset({"nightly", "periodic"})

#: How many failed tests of a job are kept, and how much of what each of them says.
FAILED_TESTS_KEPT = 50
FAILURE_CAP = 500

_EVENT_CAP = 100
_LEVEL_CAP = 16


@dataclass(frozen=True, slots=True)
class FlatResult:
    """One report. `key` is the text that names the row on the wire; `columns` are those of `CrcrResult` that it tells.
    `workflow`, `job` and `delivery` are whole, for they are part of the job's identity."""

    key: str
    repo: str
    delivery: str
    workflow: str
    job: str
    columns: Mapping[str, Any]

    @property
    def repo_key(self) -> str:
        """The identity of the backend's repository."""
        return repo_key(self.repo)

    @property
    def self_reported(self) -> bool:
        """Whether no delivery is behind it."""
        return self.columns.get("event_type") in SELF_REPORTED


def flatten(envelope: object, *, strict: bool = False) -> FlatResult:
    """The columns of an envelope. `strict` takes what the original takes, no more and no less: a self-report may then
    name a pull request, and its commit counts only where the original looks for it.

    Raises:
        HudError: 400, something is missing that names the row.
    """
    trusted = _part(envelope, "trusted")
    callback = untrusted.mapping(_part(envelope, "untrusted").get("callback_payload"))
    workflow = untrusted.mapping(callback.get("workflow"))
    repo = _required(trusted.get("verified_repo"), "trusted.verified_repo", REPO_CAP)
    event = untrusted.text(callback.get("event_type"), _EVENT_CAP)
    name = _required(workflow.get("name"), "workflow.name")
    job = _required(workflow.get("job_name"), "workflow.job_name")
    check = _check_run(workflow.get("check_run_id"), event)
    delivery = _required(callback.get("delivery_id"), "delivery_id")
    columns = {
        "status": _required(workflow.get("status"), "workflow.status"),
        "downstream_repo": repo,
        "workflow_name": name,
        "job_name": job,
        "check_run_id": check,
        "delivery_id": delivery[:DELIVERY_CAP],
        **_upstream(callback, event, strict=strict),
        **_run(workflow),
        **_trusted(trusted),
        **({"event_type": event} if event else {}),
        **_end(workflow),
    }
    return FlatResult(f"{repo}/{delivery}/{name}/{job}/{check}", repo, delivery, name, job, columns)


def _part(envelope: object, name: str) -> Mapping[str, Any]:
    part = untrusted.mapping(untrusted.mapping(envelope).get(name))
    if not part:
        raise HudError(400, f"Missing required field: {name}")
    return part


def _required(value: object, field: str, cap: int = 4 * ID_CAP) -> str:
    """A text that cannot be done without.

    Raises:
        HudError: 400, it is absent, empty, or longer than a row may be named.
    """
    found = untrusted.text(value, cap + 1)
    if not found:
        raise HudError(400, f"Missing required field: {field}")
    if len(found) > cap:
        raise HudError(400, f"{field} is longer than {cap} characters")
    return found


def _check_run(value: object, event: str) -> str:
    found = untrusted.text(value, SHORT_CAP)
    if value is None and event not in SELF_REPORTED:
        raise HudError(400, "Missing required field: workflow.check_run_id")
    return found


def _upstream(callback: Mapping[str, Any], event: str, *, strict: bool) -> dict[str, Any]:
    """Which commit of which repository was tested, for which pull request."""
    payload = untrusted.mapping(callback.get("payload"))
    repository = untrusted.mapping(payload.get("repository")).get("full_name")
    pull, sha = _pull_request(payload) if strict or event not in SELF_REPORTED else (0, "")
    places = [sha, _after(payload), payload.get("head_sha")]
    if not strict:
        # Where one public reporter puts the tested commit, and the original does not look for it.
        places += [callback.get("pytorch_head_sha"), untrusted.mapping(callback.get("workflow")).get("head_sha")]
    commits = [untrusted.text(place, DELIVERY_CAP) for place in (*places, callback.get("delivery_id"))]
    return {
        "upstream_repo": untrusted.text(repository, REPO_CAP) or UPSTREAM_REPO,
        "pr_number": pull,
        "pytorch_head_sha": next((commit for commit in commits if commit), ""),
    }


def _pull_request(payload: Mapping[str, Any]) -> tuple[int, str]:
    """Its number and head, or 0 and an empty text. A tag made for a pull request stands for it."""
    pull = untrusted.mapping(payload.get("pull_request"))
    number = untrusted.pull_number(pull.get("number"))
    if not number and _after(payload):
        number = untrusted.pull_of_ref(payload.get("ref"))
    return number, untrusted.text(untrusted.mapping(pull.get("head")).get("sha"), DELIVERY_CAP)


def _after(payload: Mapping[str, Any]) -> str:
    """The commit that a push left the ref at; empty when it was deleted."""
    after = untrusted.text(payload.get("after"), DELIVERY_CAP)
    return "" if untrusted.is_no_commit(after) else after


def _run(workflow: Mapping[str, Any]) -> dict[str, Any]:
    started = untrusted.moment(workflow.get("started_at"))
    artifact = untrusted.link(workflow.get("artifact_url"), ID_CAP)
    return {
        "workflow_run_url": untrusted.link(workflow.get("url"), ID_CAP),
        "run_id": untrusted.text(workflow.get("run_id"), RUN_ID_CAP),
        "run_attempt": untrusted.attempt(workflow.get("run_attempt")),
        **({"started_at": started} if started else {}),
        **({"artifact_url": artifact} if artifact else {}),
    }


def _trusted(trusted: Mapping[str, Any]) -> dict[str, Any]:
    metrics = untrusted.mapping(trusted.get("ci_metrics"))
    told: dict[str, Any] = {name: untrusted.seconds(metrics.get(name)) for name in ("queue_time", "execution_time")}
    told["downstream_repo_level"] = untrusted.text(trusted.get("downstream_repo_level"), _LEVEL_CAP) or None
    return {column: value for column, value in told.items() if value is not None}


def _end(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """What only a finished job can tell; of one that still runs it is not believed."""
    if workflow.get("status") != COMPLETED:
        return {}
    conclusion = untrusted.text(workflow.get("conclusion"), 64)
    ended: datetime | None = untrusted.moment(workflow.get("completed_at"))
    return {
        **({"conclusion": conclusion} if conclusion else {}),
        **({"completed_at": ended} if ended else {}),
        **_tests(workflow.get("test_results")),
        **_failed_tests(workflow.get("failed_tests_detail")),
    }


def _tests(results: object) -> dict[str, int]:
    if not isinstance(results, dict):
        return {}
    counts = {name: untrusted.count(results.get(name)) for name in ("passed", "failed", "skipped")}
    known = {f"{name}_tests": number for name, number in counts.items() if number is not None}
    total = untrusted.count(results.get("total"))
    return {**known, "total_tests": sum(known.values()) if total is None else total}


def _failed_tests(details: object) -> dict[str, str]:
    """As JSON text, for that is what the column holds for every reader."""
    if not isinstance(details, list):
        return {}
    kept = [_failed_test(detail) for detail in details[:FAILED_TESTS_KEPT] if isinstance(detail, dict)]
    return {"failed_tests_json": json.dumps(kept, ensure_ascii=False, separators=(",", ":"))}


def _failed_test(detail: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": untrusted.text(detail.get("name"), FAILURE_CAP),
        "classname": untrusted.text(detail.get("classname"), FAILURE_CAP),
        "message": untrusted.passage(detail.get("message"), FAILURE_CAP),
        "duration": untrusted.seconds(detail.get("duration")),
    }
    return {name: value for name, value in told.items() if value not in ("", None)}
