"""In which order a callback is judged, and what is nobody's fault but ours."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from relay.app import create_context
from relay.context import RelayContext
from relay.crcr.callback import CallbackRefusedError
from relay.crcr.desk import IGNORED_HEADER, Answer, CallbackDesk
from relay.parts import CrcrParts, TokenRefusedError, VerifiedClaims
from relay.store.crcr_models import (
    BackendJob,
    BackendJobEvent,
    CrcrResult,
    Dispatch,
    DispatchState,
    OutboxItem,
    OutboxKind,
)
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.payloads import S1, callback, nightly
from tests.conformance.world import Clock
from tests.relay.crcr.callback_story import story_settings


class NamedCallers:
    """Whoever says a name is believed; nobody else."""

    def verify(self, authorization: str | None) -> VerifiedClaims:
        """The name is the whole header."""
        if not authorization:
            raise TokenRefusedError("Missing authorization token")
        if authorization == "down":
            raise TokenRefusedError("The issuer's keys cannot be had", 503)
        return VerifiedClaims(authorization, "https://issuer.example", "", Clock().at + timedelta(minutes=5), {})

    def close(self) -> None:
        """There is nothing to close."""


@dataclass
class Scene:
    """A desk and what is around it."""

    context: RelayContext
    allowlist: AllowlistStandIn
    github: GitHubStandIn
    desk: CallbackDesk

    def post(self, body: object, repo: str | None = "a/l2") -> Answer:
        """Hand a callback in."""
        return self.desk.take(body if isinstance(body, bytes) else json.dumps(body).encode(), repo)

    def refused(self, body: object, repo: str | None = "a/l2") -> CallbackRefusedError:
        """How it is refused."""
        with pytest.raises(CallbackRefusedError) as caught:
            self.post(body, repo)
        return caught.value

    def dispatched(self, repo: str = "a/l2", level: str = "L2") -> None:
        """A backend was told of delivery `d1`."""
        row: dict[str, Any] = {"delivery_id": "d1", "repo": repo, "repo_key": repo, "level": level, "nonce": ""}
        row |= {"event_type": "pull_request", "upstream_repo": "pytorch/pytorch", "pr_number": 7, "head_sha": S1}
        now = self.context.now()
        with self.context.store.writing() as session:
            session.add(Dispatch(**row, state=DispatchState.DISPATCHED, queued_at=now, dispatched_at=now))

    def reason(self) -> str:
        """What is noted on the dispatch."""
        with self.context.store.reading() as session:
            return session.scalars(select(Dispatch.reason)).one()


MakeScene = Callable[..., Scene]


@pytest.fixture
def make_scene(tmp_path: Path) -> Iterator[MakeScene]:
    """Makes a scene, ours unless `strict`, with a GitHub unless not."""
    contexts: list[RelayContext] = []

    def make(*, strict: bool = False, github: bool = True, parts: bool = True, database_url: str = "") -> Scene:
        clock, hub = Clock(), GitHubStandIn()
        allowlist = AllowlistStandIn(clock)
        crcr = CrcrParts(allowlist, NamedCallers(), hub if github else None)
        settings = story_settings(tmp_path, strict=strict).model_copy(update={"hud_url": "https://hud.example/api"})
        if database_url:
            settings = settings.model_copy(update={"database_url": database_url})
        context = create_context(settings, crcr=crcr if parts else None, now=clock)
        contexts.append(context)
        return Scene(context, allowlist, hub, CallbackDesk(context))

    yield make
    for context in contexts:
        context.waker.close()
        context.store.engine.dispose()


def test_json_comes_before_the_token_and_the_token_before_the_list(make_scene: MakeScene) -> None:
    """Each step is judged only when the one before it was passed."""
    scene = make_scene()
    assert scene.refused(b"{nope", None).status == 400
    with pytest.raises(TokenRefusedError):
        scene.post([], None)
    assert scene.allowlist.reads == 0
    assert scene.post([], "stranger/repo").body["status"] == "ignored"
    assert scene.refused([]).status == 400


def test_a_relay_without_an_allowlist_says_so(make_scene: MakeScene) -> None:
    """It cannot know who may report."""
    problem = make_scene(parts=False).refused(callback())
    assert problem.status == 503
    assert "RELAY_ALLOWLIST_URL" in str(problem.detail)


@pytest.mark.parametrize(("strict", "status"), [(False, 503), (True, 500)])
def test_an_allowlist_that_was_never_read_is_our_fault(make_scene: MakeScene, strict: bool, status: int) -> None:
    """The original has one answer to all of its own."""
    scene = make_scene(strict=strict)
    scene.allowlist.text = None
    assert scene.refused(callback()).status == status


def test_an_old_allowlist_is_good_enough(make_scene: MakeScene) -> None:
    """While a newer one is bad."""
    scene = make_scene()
    scene.allowlist.problem = "line 3: no slash"
    scene.dispatched()
    assert scene.post(callback()).body == {"ok": True, "status": "in_progress"}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("repo", ["a/l1", "stranger/repo"])
def test_who_is_ignored_learns_it_from_ours_only(make_scene: MakeScene, strict: bool, repo: str) -> None:
    """The original's answer is the same to the letter in strict mode."""
    answer = make_scene(strict=strict).post(callback(), repo)
    assert answer.body.items() >= {"ok": True, "status": "ignored"}.items()
    assert ("reason" in answer.body) is (IGNORED_HEADER in answer.headers) is not strict


def test_a_backend_that_was_lowered_meanwhile_is_noted_on_its_dispatch(make_scene: MakeScene) -> None:
    """Once, and only where it was asked to report."""
    scene = make_scene()
    scene.dispatched("a/l1", "L2")
    scene.post(callback(), "a/l1")
    assert "allowlist" in scene.reason()


@pytest.mark.parametrize("body", [callback(), callback(delivery="other"), {"delivery_id": 5}, []])
def test_a_backend_that_never_was_to_report_is_not_noted(make_scene: MakeScene, body: object) -> None:
    """It is only told, and says nothing that was asked for."""
    scene = make_scene()
    scene.dispatched("a/l1", "L1")
    scene.post(body, "a/l1")
    assert scene.reason() == ""


def test_a_scheduled_report_waits_for_no_app(make_scene: MakeScene) -> None:
    """Without one nobody can be asked for the commit, so it counts as existing."""
    assert make_scene(github=False).post(nightly()).body == {"ok": True, "status": "completed"}


def test_a_commit_is_asked_for_once(make_scene: MakeScene) -> None:
    """The desk remembers it between calls."""
    scene = make_scene()
    scene.github.commits[S1] = True
    scene.post(nightly())
    scene.post(nightly(job_name="other"))
    assert scene.github.calls == [("commit_exists", "pytorch/pytorch")]


def test_no_commit_is_asked_for_by_who_may_not_report(make_scene: MakeScene) -> None:
    """Nor for a report that is refused for its form."""
    scene = make_scene()
    scene.post(nightly(), "stranger/repo")
    scene.refused(nightly("main"))
    scene.refused(nightly(status="in_progress"))
    assert scene.github.calls == []


def test_a_storm_of_reports_is_applied_once_each(make_scene: MakeScene, empty_database_url: str) -> None:
    """Twelve times the same start and end of two jobs, all at once and in any order: two jobs, each with one start, one
    end, one result and at most a letter for each; nobody is told of a failure."""
    scene = make_scene(database_url=empty_database_url)
    scene.dispatched()
    told = [(status, job) for status in ("in_progress", "completed") for job in ("one", "two")] * 12
    statuses: list[int] = []

    def post(status: str, job: str) -> None:
        try:
            scene.post(callback(status, job_name=job))
            statuses.append(200)
        except CallbackRefusedError as problem:
            statuses.append(problem.status)

    threads = [threading.Thread(target=post, args=one) for one in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 48
    # A start that comes after both start and end of its job were heard is refused, as the protocol has it.
    assert set(statuses) <= {200, 400}
    with scene.context.store.reading() as session:
        jobs = session.scalars(select(BackendJob)).all()
        kinds = Counter(session.scalars(select(BackendJobEvent.kind)))
        results = session.scalars(select(CrcrResult)).all()
        letters = session.scalars(select(OutboxItem).where(OutboxItem.kind == OutboxKind.HUD)).all()
    assert sorted((job.job_name, job.state.value, job.conclusion) for job in jobs) == [
        ("one", "completed", "success"),
        ("two", "completed", "success"),
    ]
    assert kinds["callback.finish"] == 2
    assert kinds["callback.start"] + kinds["callback.late_start"] == 2
    assert sorted((row.job_name, row.status) for row in results) == [("one", "completed"), ("two", "completed")]
    assert len(letters) == 4
