"""`relay submit`: a dispatch handed over to a real service, followed while a worker reports, and told back."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from sqlalchemy import select

from relay.context import RelayContext
from relay.contract import Observation
from relay.settings import RelaySettings
from relay.store.models import Run
from relay.views import RunState
from tests.conftest import OPERATOR_TOKEN
from tests.relay.cli.conftest import Relay
from tests.relay.serving import serving
from tests.relay.stories import REPO
from tests.relay.worker_story import end, must_lease, names, post_results, post_selection, report, result, results
from tests.waiting import until

_OPENED = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_bytes())
_PATIENCE_S = 60.0


@dataclass
class Upstream:
    """The relay that dispatched: what it is told."""

    url: str = ""
    bodies: list[Any] = field(default_factory=list)
    answer: Mapping[str, Any] = field(default_factory=lambda: {"ok": True})
    status: int = 200

    @property
    def told(self) -> list[tuple[str, str | None]]:
        return [(body["workflow"]["status"], body["workflow"]["conclusion"]) for body in self.bodies]


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    """A relay for the payload's repository."""
    return settings.model_copy(update={"upstream_repo": REPO})


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    """A relay on a socket that takes callbacks."""
    found, app = Upstream(), FastAPI()

    @app.post("/github/callback")
    async def take(request: Request) -> JSONResponse:
        found.bodies.append(await request.json())
        return JSONResponse(found.answer, found.status)

    with serving(app) as url:
        found.url = f"{url}/github/callback"
        yield found


@pytest.fixture
def job(app: FastAPI, upstream: Upstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The environment of a job of GitHub Actions that was dispatched; its event file."""
    event = tmp_path / "event.json"
    dispatch = {"event_type": "pull_request", "delivery_id": "d1", "payload": _OPENED, "crcr": {"nonce": "n"}}
    event.write_text(json.dumps({"action": "pull_request", "client_payload": dispatch}))
    with serving(app) as url:
        given = {
            "RELAY_URL": url,
            "CALLBACK_URL": upstream.url,
            "OIDC_TOKEN": "token",
            "GITHUB_OUTPUT": str(tmp_path / "o"),
            "GITHUB_RUN_ID": "55",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKFLOW": "Spyre",
            "GITHUB_JOB": "relay",
        }
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        yield event


@pytest.fixture
def submit(relay: Relay, job: Path, monkeypatch: pytest.MonkeyPatch) -> Relay:
    """`relay submit` for the job's event."""
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", OPERATOR_TOKEN)
    return lambda *arguments: relay("submit", "--event", str(job), *arguments)


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do something while the command waits; its failure is the test's."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # carried to the test, which raises it
            failures.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    yield
    thread.join(_PATIENCE_S)
    if failures:
        raise failures[0]


def _runs(context: RelayContext) -> list[Run]:
    with context.store.reading() as session:
        return list(session.scalars(select(Run)))


def _work(context: RelayContext, *seen: Observation) -> Callable[[], None]:
    """A worker that selects as many tests as there are observations, and reports these."""

    def work() -> None:
        until(lambda: bool(_runs(context)))
        selecting = must_lease(context.store, context.now())
        post_selection(context.store, selecting, report([names(len(seen))]), context.now())
        leased = must_lease(context.store, context.now())
        done = [result(test.test_id, one) for test, one in zip(leased.tests, seen, strict=True)]
        post_results(context.store, leased, results(leased, done), context.now())
        end(context.store, leased, now=context.now())

    return work


def test_a_job_waits_and_reports_start_and_end(
    submit: Relay, context: RelayContext, upstream: Upstream, tmp_path: Path
) -> None:
    """One identity in both reports, the counts in the report and in the file, the steps that follow are told."""
    with _meanwhile(_work(context, Observation.PASSED, Observation.CRASHED)):
        ended = submit("--wait", "--test-results", str(tmp_path / "counts.json"), "--exit-status")
    assert ended.code == 5
    assert upstream.told == [("in_progress", None), ("completed", "failure")]
    started, completed = (body["workflow"] for body in upstream.bodies)
    same = ("name", "job_name", "run_id", "run_attempt", "check_run_id")
    assert {name: started[name] for name in same} == {name: completed[name] for name in same}
    assert (started["name"], started["job_name"], started["run_id"]) == ("Spyre", "relay", "55")
    assert started["started_at"]
    counts = {"passed": 1, "failed": 1, "skipped": 0, "total": 2}
    assert completed["test_results"] == json.loads((tmp_path / "counts.json").read_text()) == counts
    assert [test["name"] for test in completed["failed_tests_detail"]] == [names(2)[1]]
    assert all(body["crcr"] == {"nonce": "n"} for body in upstream.bodies)
    assert "conclusion=failure\n" in (tmp_path / "o").read_text()


def test_a_green_run_ends_with_success(submit: Relay, context: RelayContext, upstream: Upstream) -> None:
    with _meanwhile(_work(context, Observation.PASSED)):
        ended = submit("--wait", "--exit-status")
    assert (ended.code, upstream.told[-1]) == (0, ("completed", "success"))


def test_a_dispatch_that_asks_for_nothing_is_still_answered(
    submit: Relay, job: Path, upstream: Upstream, context: RelayContext
) -> None:
    """Else the other relay would wait for a job that never comes."""
    dispatch = json.loads(job.read_text())
    dispatch["client_payload"]["payload"]["action"] = "edited"
    job.write_text(json.dumps(dispatch))
    ended = submit("--wait")
    assert ended.code == 0
    assert "Nothing to run" in ended.out
    assert upstream.told == [("in_progress", None), ("completed", "skipped")]
    assert _runs(context) == []


def test_a_run_that_takes_too_long_is_cancelled_and_reported(
    submit: Relay, context: RelayContext, upstream: Upstream
) -> None:
    ended = submit("--wait", "--timeout", "0.2")
    assert ended.code == 8
    assert upstream.told == [("in_progress", None), ("completed", "timed_out")]
    assert [run.state for run in _runs(context)] == [RunState.CANCELLED]


def test_a_job_that_is_ended_cancels_its_run_and_says_so(
    submit: Relay, context: RelayContext, upstream: Upstream
) -> None:
    """A CI system ends a job by SIGTERM."""

    def stop() -> None:
        until(lambda: bool(_runs(context)))
        os.kill(os.getpid(), signal.SIGTERM)

    with _meanwhile(stop):
        assert submit("--wait").code == 130
    assert upstream.told == [("in_progress", None), ("completed", "cancelled")]
    assert [run.state for run in _runs(context)] == [RunState.CANCELLED]


def test_a_run_that_was_superseded_ends_as_cancelled(submit: Relay, context: RelayContext, upstream: Upstream) -> None:
    def cancel() -> None:
        from relay.runs.creation import cancel_run

        until(lambda: bool(_runs(context)))
        with context.store.writing() as session:
            cancel_run(session, 1, context.now(), "Superseded by run 2.")

    with _meanwhile(cancel):
        submit("--wait")
    assert upstream.told == [("in_progress", None), ("completed", "cancelled")]


def test_an_end_that_nobody_heard_is_no_success(submit: Relay, context: RelayContext, upstream: Upstream) -> None:
    upstream.status, upstream.answer = 400, {"detail": "callback rejected: no matching dispatch record"}
    with _meanwhile(_work(context, Observation.PASSED)):
        ended = submit("--wait")
    assert ended.code == 1
    assert "no matching dispatch record" in ended.err
    again = submit("--wait", "--json").out.splitlines()
    assert json.loads(again[-1])["code"] == "not_heard"


def test_without_waiting_the_run_is_named_and_nothing_is_reported(
    submit: Relay, context: RelayContext, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALLBACK_URL")
    ended = submit()
    assert ended.code == 0
    assert "Run 1 opened." in ended.out
    assert submit().out.startswith("Run 1 was opened for this dispatch before.")
    assert upstream.bodies == []


@pytest.mark.parametrize(
    ("content", "says"),
    [("{", "not JSON"), ("[]", "not a JSON object"), ('{"client_payload": null}', "not dispatched"), ("{}", "payload")],
)
def test_a_file_that_is_no_dispatch_is_named(submit: Relay, job: Path, content: str, says: str) -> None:
    job.write_text(content)
    ended = submit("--wait")
    assert ended.code == 1
    assert says in ended.err
    assert str(job) in ended.err


def test_a_job_without_an_identity_is_told_before_anything_runs(
    submit: Relay, context: RelayContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OIDC_TOKEN")
    ended = submit("--wait")
    assert ended.code == 4
    assert "id-token: write" in ended.err
    assert _runs(context) == []
