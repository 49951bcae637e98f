"""A relay and a GitHub on sockets, and something fails at one step: nothing is lost, and nothing is sent twice.

Each story is the same: a pull request is opened, three backends are told, each reports start and end of a job, and the
two that are shown upstream get one check run each. Time is real.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from pydantic import SecretStr
from sqlalchemy import select

from relay.app import create_app
from relay.context import RelayContext
from relay.devgithub import Commit, DevGitHub, MemorySource, open_pull
from relay.devgithub.faults import Fault
from relay.devgithub.keys import new_private_pem
from relay.intake.signature import sign
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, JobState, OutboxItem, OutboxState
from relay.store.models import Delivery
from tests.conformance.hud_stand_in import KEY, Hud, hud_application
from tests.conformance.payloads import pull_request
from tests.github.serving import serve_devgithub
from tests.relay.serving import serving
from tests.waiting import until

pytestmark = pytest.mark.e2e

UPSTREAM = "pytorch/pytorch"
BACKENDS = ("a/l2", "a/l3", "a/l4")
LABEL = "ciflow/crcr/npu"
HEAD, BASE = "a" * 40, "b" * 40
SECRET = "webhook-secret-for-tests"
#: Less than the relay's own patience, so that a request that hangs costs little; and more than any answer takes, for
#: one that came too late was a dispatch all the same.
IMPATIENT_S = 5.0
PATIENCE_S = 60.0
_pem = cache(new_private_pem)


@dataclass
class Story:
    """One relay, its GitHub and its HUD."""

    url: str
    context: RelayContext
    github: DevGitHub
    hud: Hud

    def open_pull(self) -> None:
        """GitHub tells the relay by itself."""
        open_pull(self.github, UPSTREAM, head=HEAD, base="main", labels=(LABEL,))

    def dispatched(self) -> list[str]:
        """Who was told, in alphabetical order; twice is twice."""
        return sorted(sent.repo for sent in self.github.dispatches)

    def envelope(self, repo: str) -> Mapping[str, Any]:
        """What a backend was told."""
        return next(sent.client_payload for sent in self.github.dispatches if sent.repo == repo)

    def report(self, repo: str, status: str) -> int:
        """A backend's report; the status it was answered with."""
        workflow: dict[str, str | None] = {
            "status": status,
            "name": "CI",
            "job_name": "build",
            "run_id": "100",
            "run_attempt": "1",
        }
        workflow |= {"conclusion": "success" if status == "completed" else None, "check_run_id": "9"}
        token = self.github.oidc.mint(repo, run_id=100)
        answer = httpx.post(
            f"{self.url}/github/callback",
            json={**self.envelope(repo), "workflow": workflow},
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        return answer.status_code

    def checks(self) -> list[tuple[str, str, str | None]]:
        """Name, status and conclusion of the check runs upstream."""
        found = self.github.repository(UPSTREAM).checks.values()
        return sorted((one.name, one.status, one.conclusion) for one in found)

    def open_letters(self) -> int:
        """How many rows of the outbox are not settled, or were given up."""
        with self.context.store.reading() as session:
            rows = select(OutboxItem.id).where(OutboxItem.state != OutboxState.SENT)
            return len(session.scalars(rows).all())

    def told(self) -> str:
        """What a failing test shows."""
        with self.context.store.reading() as session:
            rows = session.scalars(select(OutboxItem)).all()
            return "\n".join(f"{one.kind} {one.target} {one.state} {one.attempts} {one.last_error}" for one in rows)


def _wait(story: Story, happened: Callable[[], bool]) -> None:
    until(happened, story.told, PATIENCE_S)


def _settings(folder: Path, github: DevGitHub, app_id: int, hud_url: str, backends: tuple[str, ...]) -> RelaySettings:
    (folder / "manifests").mkdir()
    allowlist = folder / "allowlist.yml"
    others = "".join(f"  - {repo}\n" for repo in backends if repo not in {"a/l3", "a/l4"})
    allowlist.write_text(f"L2:\n{others}L3:\n  npu:\n    a/l3: [x]\nL4:\n  - a/l4\n", encoding="utf-8")
    return RelaySettings(
        state_dir=folder / "state",
        manifest_dir=folder / "manifests",
        webhook_secret=SecretStr(SECRET),
        worker_token=SecretStr("worker-token-for-tests"),
        operator_token=SecretStr("operator-token-for-tests"),
        upstream_repo=UPSTREAM,
        sweep_seconds=0.2,
        github_app_id=app_id,
        github_app_private_key=SecretStr(_pem()),
        github_api_url=github.url,
        github_timeout_s=IMPATIENT_S,
        allowlist_url=f"file:{allowlist}",
        dev_oidc_issuer=github.url,
        hud_url=f"{hud_url}/api",
        hud_key=SecretStr(KEY),
    )


@contextmanager
def _story(folder: Path, backends: tuple[str, ...] = BACKENDS) -> Iterator[Story]:
    hud = Hud()
    with ExitStack() as stack:
        served = stack.enter_context(serve_devgithub(DevGitHub(issuer_pem=_pem())))
        hud_url = stack.enter_context(serving(hud_application(hud)))
        github = served.state
        registered = github.add_app(private_pem=_pem(), webhook_secret=SECRET)
        for repo in (UPSTREAM, *backends):
            github.add_repository(repo, app=registered)
        source = github.repository(UPSTREAM).source
        assert isinstance(source, MemorySource)
        source.add(Commit(BASE, message="Base"))
        source.add(Commit(HEAD, message="Change"))
        source.refs["main"] = BASE
        app = create_app(_settings(folder, github, registered.id, hud_url, backends))
        url = stack.enter_context(serving(app, whole=True))
        registered.webhook_url = f"{url}/github/webhook"
        yield Story(url, app.state.relay, github, hud)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """Three backends."""
    with _story(tmp_path) as found:
        yield found


#: The requests of a story, by method and path.
_STEPS = {
    "installation": ("GET", "/repos/*/installation"),
    "token": ("POST", "/app/installations/*/access_tokens"),
    "dispatch": ("POST", "/repos/*/dispatches"),
    "check created": ("POST", "/repos/*/check-runs"),
    "check updated": ("PATCH", "/repos/*/check-runs/*"),
}
_FAULTS: Mapping[str, Mapping[str, Any]] = {
    "500": {"status": 500},
    "limited": {"status": 403, "headers": {"x-ratelimit-remaining": "0", "retry-after": "1"}},
    "hangs": {"hang_s": 4 * IMPATIENT_S, "times": 1},
    "drops": {"drop": True},
}


def _tell(story: Story, backends: tuple[str, ...] = BACKENDS) -> None:
    """The whole story, whatever is in its way."""
    story.open_pull()
    _wait(story, lambda: len(story.github.dispatches) >= len(backends))
    for status in ("in_progress", "completed"):
        for repo in backends:
            assert story.report(repo, status) == 200
    _wait(story, lambda: story.open_letters() == 0)


def _forwarded(story: Story) -> list[tuple[str, str]]:
    """Whose report of which status the HUD has, in order."""
    return [
        (one["trusted"]["verified_repo"], one["untrusted"]["callback_payload"]["workflow"]["status"])
        for one in story.hud.posts
    ]


def _assert_once(story: Story) -> None:
    """Everybody was told once, and everything that was reported is shown once."""
    assert story.dispatched() == sorted(BACKENDS)
    assert story.checks() == [(f"crcr/{repo}/CI/build", "completed", "success") for repo in ("a/l3", "a/l4")]
    both = ("in_progress", "completed")
    assert sorted(_forwarded(story)) == sorted((repo, status) for repo in BACKENDS for status in both)
    assert story.github.faults.left == 0


@pytest.mark.parametrize("fault", sorted(_FAULTS))
@pytest.mark.parametrize("step", sorted(_STEPS))
def test_a_github_that_fails_at_one_step(story: Story, step: str, fault: str) -> None:
    """Twice in a row, so that the first repetition fails as well; a hang costs time, so there is one."""
    method, path = _STEPS[step]
    story.github.faults.add(Fault(method, path, **{"times": 2, **_FAULTS[fault]}))
    _tell(story)
    _assert_once(story)


@pytest.mark.parametrize("answer", [503, 0])
def test_a_hud_that_is_down_for_the_whole_run(story: Story, answer: int) -> None:
    """Every report is taken all the same; what the HUD missed it gets once it is back, each once and in order."""
    story.hud.always = answer
    story.open_pull()
    _wait(story, lambda: len(story.github.dispatches) == len(BACKENDS))
    for status in ("in_progress", "completed"):
        for repo in BACKENDS:
            assert story.report(repo, status) == 200
    _wait(story, lambda: len(story.hud.tries) >= len(BACKENDS))
    assert story.hud.posts == []
    with story.context.store.reading() as session:
        assert {job.state for job in session.scalars(select(BackendJob))} == {JobState.COMPLETED}
    story.hud.always = 200
    _wait(story, lambda: story.open_letters() == 0)
    _assert_once(story)
    for repo in BACKENDS:
        assert [status for whose, status in _forwarded(story) if whose == repo] == ["in_progress", "completed"]


def test_a_storm_of_one_delivery(story: Story) -> None:
    """Fifty times at once: one delivery, one dispatch for each backend, every answer a 200."""
    with _captured(story) as (body, headers):
        story.open_pull()
        _wait(story, lambda: bool(body))
    with ThreadPoolExecutor(50) as pool:
        asked = [
            pool.submit(httpx.post, f"{story.url}/github/webhook", content=body[0], headers=headers[0], timeout=60)
            for _ in range(50)
        ]
        assert {one.result().status_code for one in asked} == {200}
    _wait(story, lambda: story.open_letters() == 0)
    assert story.dispatched() == sorted(BACKENDS)
    with story.context.store.reading() as session:
        assert len(session.scalars(select(Delivery)).all()) == 1


def test_reports_in_any_order_and_many_times(story: Story) -> None:
    """Ends before starts, and each end eight times at once: one job each, completed, shown once."""
    story.open_pull()
    _wait(story, lambda: len(story.github.dispatches) == len(BACKENDS))
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(story.report, repo, "completed") for repo in BACKENDS for _ in range(8)]
        assert [one.result() for one in answers] == [200] * len(answers)
    assert [story.report(repo, "in_progress") for repo in BACKENDS] == [200] * len(BACKENDS)
    _wait(story, lambda: story.open_letters() == 0)
    with story.context.store.reading() as session:
        jobs = session.scalars(select(BackendJob)).all()
    assert sorted((job.repo, job.state) for job in jobs) == [(repo, JobState.COMPLETED) for repo in BACKENDS]
    assert story.checks() == [(f"crcr/{repo}/CI/build", "completed", "success") for repo in ("a/l3", "a/l4")]


def test_two_hundred_backends(tmp_path: Path) -> None:
    """Each is told once, though every tenth request fails."""
    many = ("a/l3", "a/l4", *(f"b/repo-{number}" for number in range(198)))
    with _story(tmp_path, many) as story:
        story.github.faults.add(Fault("POST", "/repos/*/dispatches", times=20, status=502))
        story.open_pull()
        _wait(story, lambda: story.open_letters() == 0 and len(story.github.dispatches) >= len(many))
        assert story.dispatched() == sorted(many)


@pytest.mark.parametrize("died", ["before it was sent", "while it was being sent"])
def test_a_process_that_is_killed_between_commit_and_send(tmp_path: Path, died: str) -> None:
    """SIGKILL of a relay that has answered the webhook; the next process on the same record sends what is left."""
    github = DevGitHub(issuer_pem=_pem())
    with serve_devgithub(github) as served:
        registered = github.add_app(private_pem=_pem(), webhook_secret=SECRET)
        for repo in (UPSTREAM, *BACKENDS):
            github.add_repository(repo, app=registered)
        settings = _settings(tmp_path, github, registered.id, served.url, BACKENDS)
        hangs = died == "while it was being sent"
        github.faults.add(
            Fault("POST", "/repos/*/dispatches", times=3, **({"hang_s": 30.0} if hangs else {"status": 503}))
        )
        body = json.dumps(pull_request(labels=(LABEL,), sha=HEAD)).encode()
        with _process(settings, tmp_path) as (process, url):
            headers = {
                "X-GitHub-Event": "pull_request",
                "X-GitHub-Delivery": "d1",
                "X-Hub-Signature-256": sign(SECRET, body),
            }
            assert httpx.post(f"{url}/github/webhook", content=body, headers=headers, timeout=30).status_code == 200
            until(lambda: github.faults.left == 0, seconds=PATIENCE_S)
            process.kill()
        assert github.dispatches == []
        with _process(settings, tmp_path):
            until(lambda: len(github.dispatches) >= len(BACKENDS), seconds=2 * PATIENCE_S)
        assert sorted(sent.repo for sent in github.dispatches) == sorted(BACKENDS)


@contextmanager
def _process(settings: RelaySettings, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A relay of its own process; it is ended by SIGTERM, if it still lives then."""
    told = {
        "RELAY_STATE_DIR": settings.state_dir,
        "RELAY_MANIFEST_DIR": settings.manifest_dir,
        "RELAY_WEBHOOK_SECRET": SECRET,
        "RELAY_GITHUB_APP_ID": settings.github_app_id,
        "RELAY_GITHUB_APP_PRIVATE_KEY": _pem(),
        "RELAY_GITHUB_API_URL": settings.github_api_url,
        "RELAY_ALLOWLIST_URL": settings.allowlist_url,
        "RELAY_SWEEP_SECONDS": "0.2",
    }
    environment = {**os.environ, **{name: str(value) for name, value in told.items()}}
    command = [sys.executable, "-m", "relay", "serve", "--port", "0"]
    log = (folder / "relay.log").open("a")
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    with log, process:
        try:
            assert process.stdout is not None
            (url,) = re.findall(r"http://[0-9.:]+", process.stdout.readline())
            yield process, url
        finally:
            process.terminate()


@contextmanager
def _captured(story: Story) -> Iterator[tuple[list[bytes], list[Mapping[str, str]]]]:
    """What GitHub would deliver, kept from the relay."""
    bodies: list[bytes] = []
    headers: list[Mapping[str, str]] = []
    catcher = FastAPI()

    @catcher.post("/github/webhook")
    async def catch(request: Request) -> dict[str, bool]:
        if request.headers["x-github-event"] == "pull_request":
            headers.append({name: value for name, value in request.headers.items() if name.startswith("x-")})
            bodies.append(await request.body())
        return {"ok": True}

    (registered,) = story.github.apps.values()
    before = registered.webhook_url
    with serving(catcher) as url:
        registered.webhook_url = f"{url}/github/webhook"
        yield bodies, headers
    registered.webhook_url = before
