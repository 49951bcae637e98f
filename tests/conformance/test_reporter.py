"""The reporter of a backend's job (rows AX): what it posts, what it refuses to post, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from relay.cli import run
from tests.conformance.payloads import S1, pull_request
from tests.relay.serving import serving

_PAYLOAD = pull_request()
_ENVELOPE = {"event_type": "pull_request", "delivery_id": "d1", "payload": _PAYLOAD}
_JOB = {
    "OIDC_TOKEN": "token-of-the-job",
    "WORKFLOW_NAME": "CI",
    "WORKFLOW_URL": "https://github.com/a/l2/actions/runs/100",
    "RUN_ID": "100",
    "RUN_ATTEMPT": "2",
    "JOB_NAME": "build",
}


@dataclass
class Relay:
    """The other relay: what was posted to it, and its next answers (200 when there are none)."""

    url: str = ""
    posts: list[tuple[str, Mapping[str, str], Any]] = field(default_factory=list)
    answers: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        return [body for _, _, body in self.posts]


@contextmanager
def _relay() -> Iterator[Relay]:
    relay, app = Relay(), FastAPI()

    @app.post("/{path:path}")
    async def take(path: str, request: Request) -> JSONResponse:
        relay.posts.append((path, dict(request.headers), await request.json()))
        status, body = relay.answers.pop(0) if relay.answers else (200, {"ok": True, "status": "in_progress"})
        return JSONResponse(body, status, {"Retry-After": "0"} if status == 429 else {})

    with serving(app) as url:
        relay.url = url
        yield relay


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> Iterator[Relay]:
    """A relay to report to, and the environment of a job that it dispatched."""
    with _relay() as found:
        given = {**_JOB, "CLIENT_PAYLOAD": json.dumps(_ENVELOPE), "CALLBACK_URL": f"{found.url}/github/callback"}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("GITHUB_EVENT_PATH", raising=False)
        yield found


@pytest.mark.row("AX01")
def test_a_dispatched_jobs_end_is_the_dispatch_and_its_workflow(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBACK_URL", f"{relay.url}/github/callback/")
    assert run(["callback", "--status", "completed", "--conclusion", "success"]) == 0
    ((path, headers, body),) = relay.posts
    assert (path, headers["authorization"]) == ("github/callback", "Bearer token-of-the-job")
    workflow = body.pop("workflow")
    assert body == _ENVELOPE
    assert workflow["started_at"] is None
    assert workflow["completed_at"].endswith("Z")
    wanted = {"schema_version": "1", "status": "completed", "conclusion": "success", "name": "CI", "job_name": "build"}
    wanted |= {"run_id": "100", "run_attempt": "2", "url": _JOB["WORKFLOW_URL"]}
    assert {name: workflow[name] for name in wanted} == wanted


@pytest.mark.row("AX02")
def test_a_start_has_no_conclusion_and_no_end(relay: Relay) -> None:
    assert run(["callback", "--status", "in_progress", "--conclusion", "success"]) == 0
    workflow = relay.bodies[0]["workflow"]
    assert workflow["conclusion"] is None
    assert workflow["completed_at"] is None
    assert workflow["started_at"].endswith("Z")


@pytest.mark.row("AX03", "AX04", "AX05")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--status", "queued"], "queued"),
        (["--status", "completed", "--conclusion", "success", "--delivery-id", S1], "belong together"),
        (["--status", "completed", "--conclusion", "success", "--event-type", "nightly"], "belong together"),
        (
            ["--status", "completed", "--conclusion", "success", "--delivery-id", S1, "--event-type", "weekly"],
            "weekly",
        ),
        (["--status", "in_progress", "--delivery-id", S1, "--event-type", "nightly"], "once, at the end"),
    ],
    ids=["status", "delivery alone", "event alone", "event type", "nightly start"],
)
def test_what_does_not_fit_together_fails_before_any_request(
    relay: Relay, capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    assert run(["callback", *arguments]) == 1
    assert says in capsys.readouterr().err
    assert relay.posts == []


@pytest.mark.row("AX06")
@pytest.mark.parametrize("kind", ["nightly", "periodic"])
def test_a_self_report_is_made_from_scratch(relay: Relay, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.delenv("CLIENT_PAYLOAD")
    arguments = ["--status", "completed", "--conclusion", "failure", "--delivery-id", S1, "--event-type", kind]
    assert run(["callback", *arguments]) == 0
    (body,) = relay.bodies
    workflow = body.pop("workflow")
    payload = {"repository": {"full_name": "pytorch/pytorch"}, "head_sha": S1}
    assert body == {"event_type": kind, "delivery_id": S1, "payload": payload}
    assert workflow["started_at"] == workflow["completed_at"]
    assert workflow["started_at"].endswith("Z")


@pytest.mark.row("AX07")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TEST_RESULTS", "{passed: 3"),
        ("TEST_RESULTS", "[3]"),
        ("TEST_RESULTS", '{"passed": "3"}'),
        ("CLIENT_PAYLOAD", "{"),
    ],
)
def test_what_cannot_be_read_fails_with_its_name(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert run(["callback", "--status", "completed", "--conclusion", "success"]) == 1
    assert {"TEST_RESULTS": "test results", "CLIENT_PAYLOAD": "CLIENT_PAYLOAD"}[name] in capsys.readouterr().err
    assert relay.posts == []


@pytest.mark.row("AX08")
def test_a_job_that_was_not_dispatched_is_told_so(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], strict: bool
) -> None:
    """The original ends by a crash, so both end with 1; ours says why in either mode."""
    monkeypatch.setenv("CLIENT_PAYLOAD", "null")
    monkeypatch.setenv("RELAY_CRCR_STRICT_COMPAT", "1" if strict else "")
    assert run(["callback", "--status", "completed", "--conclusion", "success"]) == 1
    shown = capsys.readouterr().err
    assert "not dispatched by a relay" in shown
    assert "Traceback" not in shown
    assert relay.posts == []


@pytest.mark.row("AX09")
def test_without_a_check_run_the_run_and_its_attempt_stand_in(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, wanted in [("", "100-2"), ("900", "900")]:
        monkeypatch.setenv("CHECK_RUN_ID", number)
        assert run(["callback", "--status", "in_progress"]) == 0
        assert relay.bodies[-1]["workflow"]["check_run_id"] == wanted


@pytest.mark.row("AX10")
def test_a_refusal_ends_at_once_with_what_the_relay_says(relay: Relay, capsys: pytest.CaptureFixture[str]) -> None:
    relay.answers = [(400, {"detail": "callback rejected: no matching dispatch record"})]
    assert run(["callback", "--status", "in_progress"]) == 1
    assert "no matching dispatch record" in capsys.readouterr().err
    assert len(relay.posts) == 1


@pytest.mark.row("AX10")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_sent_again_and_a_repeat_is_a_success(
    relay: Relay, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    relay.answers = [(status, {"detail": "later"}), (200, {"ok": True, "status": "in_progress", "duplicate": True})]
    assert run(["callback", "--status", "in_progress"]) == 0
    assert len(relay.posts) == 2
    assert relay.bodies[0]["delivery_id"] == relay.bodies[1]["delivery_id"]
    assert "knew it already" in capsys.readouterr().err


@pytest.mark.row("AX10")
def test_after_a_lost_answer_the_originals_refusal_is_a_success(relay: Relay) -> None:
    """The first try was taken and its answer lost; the original then refuses the repeat."""
    refusal = "callback rejected: invalid state transition delivery_id=d1 repo=a/l2 status=in_progress"
    relay.answers = [(500, {"detail": "Internal server error"}), (400, {"detail": refusal})]
    assert run(["callback", "--status", "in_progress"]) == 0
    relay.answers = [(400, {"detail": refusal})]
    assert run(["callback", "--status", "in_progress"]) == 1


@pytest.mark.row("AX11")
def test_an_end_without_a_conclusion(relay: Relay, monkeypatch: pytest.MonkeyPatch, strict: bool) -> None:
    """Ours refuses to send it; the original sends null."""
    monkeypatch.setenv("RELAY_CRCR_STRICT_COMPAT", "1" if strict else "")
    assert run(["callback", "--status", "completed"]) == (0 if strict else 1)
    assert [body["workflow"]["conclusion"] for body in relay.bodies] == ([None] if strict else [])


def test_a_report_that_the_relay_ignores_is_said_loudly(relay: Relay, capsys: pytest.CaptureFixture[str]) -> None:
    """In GitHub's own form for a warning, where GitHub runs the job."""
    relay.answers = [(200, {"ok": True, "status": "ignored", "reason": "a/l2 is at L1"})]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GITHUB_ACTIONS", "true")
        assert run(["callback", "--status", "in_progress"]) == 0
    shown = capsys.readouterr().err
    assert "::warning::" in shown
    assert "a/l2 is at L1" in shown
