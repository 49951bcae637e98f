"""A backend's callback as a value: what it says, checked for form only (crcr-protocol 1.4).

Pure: it knows neither the record nor who calls. Everything here is the caller's own claim; who it is, and which change
it was asked about, is told by its token and by our own dispatch (`relay.crcr.jobs`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relay.contract import SHORT_CAP
from relay.crcr.triage_verdict import with_clean_verdict
from relay.store.crcr_models import DELIVERY_CAP, NAME_CAP, RUN_ID_CAP
from relay.store.models import ID_CAP

IN_PROGRESS = "in_progress"
COMPLETED = "completed"
#: GitHub's words; a check run takes no other.
CONCLUSIONS = ("success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale")

_EVENT_CAP = 100
#: What the record holds of a word that is none of GitHub's.
_CONCLUSION_CAP = 32
_ATTEMPT_LIMIT = 2**31
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_WHOLE = re.compile(r"[+-]?[0-9]+")


class CallbackRefusedError(Exception):
    """The callback is not taken. `detail` is for the caller and quotes nothing but what it sent itself."""

    def __init__(self, status: int, detail: str | Mapping[str, Any], *, retry_after_s: int | None = None) -> None:
        super().__init__(str(detail))
        self.status = status
        self.detail = detail
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Claimed:
    """What the echoed payload says of the change. It proves nothing and is only compared with our own dispatch."""

    upstream_repo: str = ""
    pr_number: int | None = None
    head_sha: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Callback:
    """One callback. `status` is as it came, of any text; `conclusion` is None unless the job has completed; `job_name`
    is None when none was given (only the strict mode takes that). `nonce` is the echoed envelope key `crcr`. `body` is
    the whole, as it is kept and forwarded."""

    delivery_id: str
    event_type: str
    workflow: str
    job_name: str | None
    run_id: str
    run_attempt: int
    status: str
    conclusion: str | None
    url: str
    check_run_id: str
    started_at: str | None
    ended_at: str | None
    claimed: Claimed
    nonce: Mapping[str, Any] | None = field(repr=False)
    body: Mapping[str, Any] = field(repr=False)

    @property
    def results(self) -> Mapping[str, Any]:
        """What a completed job found, without clocks and links: two reports that differ here contradict each other."""
        workflow = self.body["workflow"]
        found = {key: workflow.get(key) for key in ("test_results", "failed_tests_detail")}
        return {"conclusion": self.conclusion, **found}


def parse_callback(body: object, *, strict: bool) -> Callback:
    """The callback in a decoded body. `strict` judges as the original does: what it could not read was an error of its
    own, and it asked neither for a job's name nor for a known conclusion.

    Raises:
        CallbackRefusedError: 400 with what is wrong; in strict mode 500 where the original fails itself.
    """
    if not isinstance(body, dict):
        raise _unreadable("callback body must be a JSON object", strict)
    delivery_id = _identity(_required(body, "delivery_id"), "delivery_id", DELIVERY_CAP)
    workflow = _required(body, "workflow")
    if not isinstance(workflow, dict):
        raise CallbackRefusedError(400, "workflow must be an object")
    if "status" not in workflow:
        raise _missing("status")
    status = workflow["status"] if isinstance(workflow["status"], str) else json.dumps(workflow["status"])[:SHORT_CAP]
    body = with_clean_verdict(body)
    return Callback(
        delivery_id=delivery_id,
        event_type=_event_type(body.get("event_type")),
        run_id=_run_id(_required(workflow, "run_id"), strict),
        workflow=_identity(_required(workflow, "name"), "workflow.name", NAME_CAP),
        run_attempt=_attempt(workflow.get("run_attempt"), strict),
        job_name=_job_name(workflow.get("job_name"), strict),
        status=status,
        conclusion=_conclusion(workflow.get("conclusion"), strict) if status == COMPLETED else None,
        url=_url(workflow.get("url")),
        check_run_id=_short(workflow.get("check_run_id")),
        started_at=_short(workflow.get("started_at")) or None,
        ended_at=_short(workflow.get("completed_at")) or None,
        claimed=_claimed(body.get("payload")),
        nonce=body["crcr"] if isinstance(body.get("crcr"), dict) else None,
        body=body,
    )


def _missing(field_name: str) -> CallbackRefusedError:
    return CallbackRefusedError(400, f"callback body missing required field: '{field_name}'")


def _unreadable(detail: str, strict: bool) -> CallbackRefusedError:
    return CallbackRefusedError(500, "Internal server error") if strict else CallbackRefusedError(400, detail)


def _required(holder: Mapping[str, Any], key: str) -> Any:
    """The value of a key; null and an empty text are as good as absent."""
    value = holder.get(key)
    if value is None or value == "":
        raise _missing(key)
    return value


def _identity(value: object, name: str, cap: int) -> str:
    """A text that is part of a job's identity: never cut, because two of them could then become one."""
    if not isinstance(value, str) or not value.strip():
        raise CallbackRefusedError(400, f"{name} must be a text that is not empty")
    if len(value) > cap:
        raise CallbackRefusedError(400, f"{name} is longer than {cap} characters")
    if _UNSTORABLE.search(value):
        raise CallbackRefusedError(400, f"{name} holds a character that no text may hold")
    return value


def _event_type(value: object) -> str:
    if value is None or value == "":
        return ""
    return _identity(value, "event_type", _EVENT_CAP)


def _job_name(value: object, strict: bool) -> str | None:
    if value is None or value == "":
        if strict:
            return None
        # Without it every job of a run would be one, and the results store has no row for it.
        raise _missing("job_name")
    return _identity(value, "workflow.job_name", NAME_CAP)


def _run_id(value: object, strict: bool) -> str:
    """GitHub's number, or another CI's own text as it is. Numbers are written one way, so that 7 and "007" are one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _identity(str(value), "workflow.run_id", RUN_ID_CAP)
    if not isinstance(value, str):
        raise _unreadable("workflow.run_id must be a text or a whole number", strict)
    text = _identity(value.strip(), "workflow.run_id", RUN_ID_CAP)
    if _WHOLE.fullmatch(text):
        return str(int(text))
    if strict:
        raise _unreadable("", strict)
    return text


def _attempt(value: object, strict: bool) -> int:
    if value is None:
        return 1
    text = str(value).strip() if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    number = int(text) if len(text) <= RUN_ID_CAP and _WHOLE.fullmatch(text) else None
    if number is None:
        raise _unreadable("workflow.run_attempt must be a whole number", strict)
    if not 0 <= number < _ATTEMPT_LIMIT:
        raise CallbackRefusedError(400, "workflow.run_attempt is out of range")
    # The results store reads 0 as 1, and so does GitHub, which counts from 1.
    return number or 1


def _conclusion(value: object, strict: bool) -> str | None:
    if strict:
        return _short(value)[:_CONCLUSION_CAP] or None
    if value not in CONCLUSIONS:
        raise CallbackRefusedError(
            400, f"workflow.conclusion of a completed job must be one of: {', '.join(CONCLUSIONS)}"
        )
    return str(value)


def _url(value: object) -> str:
    """A run's address, to be shown as a link; anything that is not one is none."""
    shown = isinstance(value, str) and len(value) <= ID_CAP and value.startswith(("https://", "http://"))
    return str(value) if shown else ""


def _short(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", str(value)[:SHORT_CAP])


def _claimed(payload: object) -> Claimed:
    if payload is None:
        return Claimed()
    if not isinstance(payload, dict):
        raise CallbackRefusedError(400, "payload must be an object")
    pull, number = _object(payload, "pull_request"), _object(payload, "pull_request").get("number")
    sha = _object(pull, "head").get("sha") or payload.get("after") or payload.get("head_sha")
    labels = pull.get("labels")
    return Claimed(
        upstream_repo=_short(_object(payload, "repository").get("full_name")),
        pr_number=number if isinstance(number, int) and not isinstance(number, bool) else None,
        head_sha=_short(sha),
        labels=tuple(_label(label) for label in labels) if isinstance(labels, list) else (),
    )


def _object(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _label(label: object) -> str:
    return _short(label.get("name")) if isinstance(label, dict) else ""
