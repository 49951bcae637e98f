"""How the routes of the wire protocols are described: their bodies, headers, answers and refusals. Words only.

Those routes read their requests themselves, in the protocol's own order, so that FastAPI knows nothing of them.
"""

from __future__ import annotations

from typing import Any

from relay.hud.errors import HudError
from relay.web.refusals import Refusal, Responses, answers, refuses

_OBJECT = {"type": "object"}
_SHA = "1f" * 20
_DELIVERY = "6a1f0c2e-7d1b-11f0-8c3a-5b8e4f1a2b3c"
_PULL = {"number": 4711, "head": {"sha": _SHA}, "base": {"ref": "main", "sha": "2e" * 20}}
PULL_REQUEST_OPENED = {
    "action": "opened",
    "number": 4711,
    "pull_request": _PULL,
    "repository": {"full_name": "pytorch/pytorch"},
}
_CALLBACK = {
    "event_type": "pull_request",
    "delivery_id": _DELIVERY,
    "payload": PULL_REQUEST_OPENED,
    "crcr": {"nonce": "...", "issued_at": 1_796_000_000},
    "workflow": {
        "status": "completed",
        "conclusion": "success",
        "name": "CI",
        "job_name": "build",
        "run_id": "100",
        "run_attempt": 1,
        "check_run_id": "900",
        "url": "https://github.com/acme/torch-acme/actions/runs/100",
    },
}
_ENVELOPE = {
    "trusted": {
        "verified_repo": "acme/torch-acme",
        "downstream_repo_level": "L2",
        "ci_metrics": {"queue_time": 41.0, "execution_time": 700.0},
    },
    "untrusted": {"callback_payload": {key: value for key, value in _CALLBACK.items() if key != "crcr"}},
}


def _answers(example: object) -> Responses:
    return (
        answers(example, type="array", items=_OBJECT) if isinstance(example, list) else answers(example, type="object")
    )


def _header(name: str, description: str, example: str, *, required: bool = True) -> dict[str, Any]:
    schema = {"type": "string"}
    told = {"name": name, "in": "header", "required": required, "description": description}
    return {**told, "schema": schema, "example": example}


def _body(example: object, **more: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": _OBJECT, "example": example}}
    return {"requestBody": {"required": True, "content": content}, **more}


WEBHOOK_ASKED = _body(
    PULL_REQUEST_OPENED,
    parameters=[
        _header(
            "X-GitHub-Event",
            "The event's name; others than it knows are answered unread",
            "pull_request",
            required=False,
        ),
        _header("X-GitHub-Delivery", "GitHub's own name of the delivery", _DELIVERY),
        _header("X-Hub-Signature-256", "HMAC of the body under RELAY_WEBHOOK_SECRET", "sha256=" + "0d" * 32),
    ],
)
WEBHOOK_ANSWERS = _answers({"ok": True, "delivery_id": _DELIVERY, "repeated": False}) | refuses(
    Refusal(400, "The header X-Hub-Signature-256 is missing."),
    Refusal(
        401, "X-Hub-Signature-256 does not fit the body: is the webhook's secret the relay's RELAY_WEBHOOK_SECRET?"
    ),
    Refusal(409, "This delivery came before with another body."),
    Refusal(413, "The body is larger than 2097152 bytes (RELAY_WEBHOOK_MAX_BYTES)."),
    Refusal(500, "Internal server error"),
    Refusal(503, "The allowlist cannot be read just now"),
)

CALLBACK_ASKED = _body(
    _CALLBACK,
    parameters=[_header("Authorization", "`Bearer` and the OIDC token of the CI job that reports", "Bearer eyJ...")],
)
CALLBACK_ANSWERS = _answers({"ok": True, "status": "completed"}) | refuses(
    Refusal(400, "callback body missing required field: 'workflow'"),
    Refusal(401, "Missing authorization token"),
    Refusal(403, "Buildkite pipeline not registered: acme/torch"),
    Refusal(409, {"message": "this job has ended otherwise", "stored": {"conclusion": "failure"}}),
    Refusal(413, "callback body is larger than 2097152 bytes"),
    Refusal(422, f"pytorch/pytorch has no commit {_SHA}"),
    Refusal(429, "rate limit exceeded for acme/torch-acme"),
    Refusal(500, "HUD failed with HTTP 502; please retry after 5 seconds"),
    Refusal(503, "The allowlist cannot be read just now"),
)

RESULTS_ASKED = _body(
    _ENVELOPE, parameters=[_header("x-hud-internal-bot", "The key that forwarders of results share", "...")]
)
RESULTS_ANSWERS = _answers(
    {"ok": True, "status": "completed", "dynamoKey": f"acme/torch-acme/{_DELIVERY}/CI/build/900"}
) | refuses(
    HudError(400, "Missing required field: trusted.verified_repo"),
    HudError(401, "Unauthorized"),
    HudError(413, "Payload exceeds 2MB limit"),
    HudError(500, "Internal error writing to the results store"),
)

_ROW = {
    "repo": "acme/torch-acme",
    "downstream_repo_level": "L2",
    "successes": 21,
    "failures": 1,
    "timed_out": 0,
    "total": 22,
    "pass_rate": 0.9545,
}
QUERY_ANSWERS = _answers([_ROW]) | refuses(
    HudError(400, "Parameter days must be a whole number, 0 or more"),
    HudError(404, "There is no such query. There are: crcr_summary, crcr_success_rate"),
)

_NO_ALLOWLIST = refuses(HudError(502, "This relay reads no allowlist; RELAY_ALLOWLIST_URL names one"))
ALLOWLIST_ANSWERS = (
    _answers(
        {
            "L1": [],
            "L2": [{"repo": "acme/torch-acme", "oncalls": ["ann"], "events": ["nightly", "pull_request"]}],
            "L3": [],
            "L4": [],
        }
    )
    | _NO_ALLOWLIST
)
_CRITERION = {"criterion": "Pass rate", "measured": "95.5 %", "target": "> 90 %", "met": True}
_STANDING = {"repo": "acme/torch-acme", "level": "L2", "change": "promote", "noData": False, "windowDays": 14}
LEVEL_STATUS_ANSWERS = _answers({"repos": [{**_STANDING, "criteria": [_CRITERION]}]}) | _NO_ALLOWLIST


def titles_answers(row: dict[str, Any], parameter: str, sentence: str) -> Responses:
    """Of a question for titles."""
    return _answers([row]) | refuses(
        HudError(400, f"Missing required params: repo, {parameter}"),
        HudError(403, "Repository not allowed"),
        HudError(500, f"{sentence}: this relay acts as no GitHub App"),
    )
