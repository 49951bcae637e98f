"""The two roles against each other: what our relay dispatches, our backend runs and reports, and every report is taken.

The relay is the one under test in either mode; between it and the backend there are sockets, as there would be.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from relay.cli import run
from relay.context import RelayContext
from relay.contract import Observation
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, JobState
from relay.store.models import Run
from tests.conformance.building import serving_callbacks
from tests.conformance.payloads import pull_request
from tests.conformance.world import World
from tests.conftest import OpenApp
from tests.relay.serving import serving
from tests.relay.worker_story import end, must_lease, names, post_results, post_selection, report, result, results
from tests.waiting import until

_TOKEN = "operator-token-of-the-backend"
_PATIENCE_S = 60.0


@pytest.fixture
def backend(tmp_path: Path, second_service: dict[str, str], open_app: OpenApp) -> Iterator[RelayContext]:
    """The backend's own service, on a socket of its own."""
    manifests = tmp_path / "backend-manifests"
    manifests.mkdir()
    app = open_app(
        RelaySettings(
            state_dir=tmp_path / "backend",
            manifest_dir=manifests,
            operator_token=SecretStr(_TOKEN),
            worker_token=SecretStr("worker-token-of-the-backend"),
            **second_service,  # type: ignore[arg-type]  # a dictionary has no types by name
        )
    )
    with serving(app) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELAY_URL", url)
        patch.setenv("RELAY_OPERATOR_TOKEN", _TOKEN)
        yield app.state.relay


def _event_file(world: World, folder: Path, repo: str) -> Path:
    """What GitHub gives the backend's job for the dispatch it was sent."""
    sent = next(one for one in world.github.dispatches if one.repo == repo)
    file = folder / "event.json"
    file.write_text(json.dumps({"action": sent.event_type, "client_payload": sent.client_payload}))
    return file


def _work(context: RelayContext, seen: Observation) -> None:
    def opened() -> bool:
        with context.store.reading() as session:
            return session.scalar(select(Run.id)) is not None

    until(opened, "the dispatch opens a run")
    selecting = must_lease(context.store, context.now())
    post_selection(context.store, selecting, report([names(1)]), context.now())
    leased = must_lease(context.store, context.now())
    post_results(context.store, leased, results(leased, [result(names(1)[0], seen)]), context.now())
    end(context.store, leased, now=context.now())


def _environment(patch: pytest.MonkeyPatch, **told: str) -> None:
    given = {"GITHUB_RUN_ID": "100", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "spyre"}
    for name, value in (given | told).items():
        patch.setenv(name, value)


@pytest.mark.both_modes
@pytest.mark.parametrize("repo", ["a/l2", "a/l3", "a/l4"])
@pytest.mark.parametrize("seen", [Observation.PASSED, Observation.CRASHED])
def test_our_backend_is_taken_by_our_relay(
    world: World, backend: RelayContext, tmp_path: Path, repo: str, seen: Observation
) -> None:
    """Both reports get a 200, and the relay's record has the job with its counts."""
    conclusion = "success" if seen is Observation.PASSED else "failure"
    assert world.webhook("pull_request", pull_request()).status_code == 200
    world.drain()
    event = _event_file(world, tmp_path, repo)
    worker = threading.Thread(target=_work, args=(backend, seen))
    with serving_callbacks(world) as (url, statuses), pytest.MonkeyPatch.context() as patch:
        _environment(patch, CALLBACK_URL=url, OIDC_TOKEN=world.token(repo, jti=None))
        worker.start()
        assert run(["submit", "--event", str(event), "--wait"]) == 0
        worker.join(_PATIENCE_S)
    assert statuses == [200, 200]
    with world.session() as session:
        (job,) = session.scalars(select(BackendJob)).all()
    assert (job.repo, job.state, job.conclusion) == (repo, JobState.COMPLETED, conclusion)
    assert (job.workflow, job.job_name, job.run_id) == ("CI", "spyre", "100")
    assert _told(job.callback)["test_results"]["total"] == 1


@pytest.mark.both_modes
def test_a_dispatch_without_work_still_gets_its_end(world: World, backend: RelayContext, tmp_path: Path) -> None:
    """A closed pull request is dispatched too; its job ends as skipped, and no job of it stays open."""
    world.webhook("pull_request", pull_request("closed"))
    world.drain()
    event = _event_file(world, tmp_path, "a/l2")
    with serving_callbacks(world) as (url, statuses), pytest.MonkeyPatch.context() as patch:
        _environment(patch, CALLBACK_URL=url, OIDC_TOKEN=world.token("a/l2", jti=None))
        assert run(["submit", "--event", str(event), "--wait"]) == 0
    assert statuses == [200, 200]
    with world.session() as session:
        assert [(job.state, job.conclusion) for job in session.scalars(select(BackendJob))] == [
            (JobState.COMPLETED, "skipped")
        ]


def _told(callback: dict[str, Any]) -> dict[str, Any]:
    """The workflow part of a stored callback or of its envelope."""
    found: dict[str, Any] = callback["workflow"]
    return found
