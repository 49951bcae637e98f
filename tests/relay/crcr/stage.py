"""A relay's record with a GitHub and an allowlist that tests set, and jobs to put into it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.check_runs import CheckRunSender
from relay.crcr.reruns import RerunSender
from relay.crcr.supersede import CancelSender
from relay.outbox.delivering import Deliverer
from relay.outbox.types import Sender
from relay.parts import CrcrParts, TokenRefusedError, VerifiedClaims
from relay.store.crcr_models import (
    BackendJob,
    BackendJobEvent,
    Dispatch,
    DispatchState,
    JobState,
    OutboxItem,
    OutboxKind,
)
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.payloads import S1, UPSTREAM, callback
from tests.conformance.world import Clock


class NoVerifier:
    """These tests are past the door."""

    def verify(self, authorization: str | None) -> VerifiedClaims:
        """Nobody comes in here."""
        raise TokenRefusedError("nobody comes in here")

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Stage:
    """`context` has everything but an external HUD."""

    context: RelayContext
    clock: Clock
    github: GitHubStandIn
    allowlist: AllowlistStandIn
    parts: CrcrParts = field(init=False)
    outbox: Deliverer = field(init=False)

    def __post_init__(self) -> None:
        self.parts = CrcrParts(self.allowlist, NoVerifier(), self.github)
        senders: dict[OutboxKind, Sender] = {
            OutboxKind.CHECK_RUN: CheckRunSender(self.github, self.context.store),
            OutboxKind.RERUN: RerunSender(self.github),
            OutboxKind.CANCEL: CancelSender(self.github),
        }
        self.outbox = Deliverer(self.context.store, senders, self.clock, workers=4)
        self.context = replace(self.context, crcr=self.parts, outbox=self.outbox, now=self.clock)

    def set(self, **settings: object) -> None:
        """Change settings."""
        self.context = replace(self.context, settings=self.context.settings.model_copy(update=settings))

    def add(self, **columns: Any) -> BackendJob:
        """A job of `a/l4` in progress for pull request 7 at `S1`, but for what is given."""
        job = a_job(self.clock(), **columns)
        with self.context.store.writing() as session:
            session.add(job)
        return job

    def dispatch(self, repo: str = "a/l2", **columns: Any) -> int:
        """A dispatch that GitHub took just now."""
        known = {"delivery_id": "d1", "event_type": "pull_request", "upstream_repo": UPSTREAM, "pr_number": 7}
        known |= {"nonce": "n", "state": DispatchState.DISPATCHED, "level": "L2", "head_sha": S1}
        moments = {"queued_at": self.clock(), "dispatched_at": self.clock()}
        row = Dispatch(**{**known, **moments, "repo": repo, "repo_key": repo.casefold(), **columns})
        with self.context.store.writing() as session:
            session.add(row)
        return row.id

    def job(self, job_id: int) -> BackendJob:
        """The job as it is recorded now."""
        with self.context.store.reading() as session:
            return session.get_one(BackendJob, job_id)

    def history(self, job_id: int) -> list[str]:
        """The kinds of its history, in order."""
        with self.context.store.reading() as session:
            wanted = session.query(BackendJobEvent).filter_by(job_id=job_id).order_by(BackendJobEvent.id)
            return [event.kind for event in wanted]

    def queued(self, kind: OutboxKind) -> list[OutboxItem]:
        """What there is to send, or was."""
        with self.context.store.reading() as session:
            return session.query(OutboxItem).filter_by(kind=kind).order_by(OutboxItem.id).all()


@contextmanager
def staged(context: RelayContext) -> Iterator[Stage]:
    """A stage on a context whose record is empty."""
    clock = Clock()
    yield Stage(context, clock, GitHubStandIn(), AllowlistStandIn(clock))


def a_job(now: datetime, *, level: Level = Level.L4, repo: str = "", **columns: Any) -> BackendJob:
    """A job in progress since now; its repository is the fixture's of that level."""
    name = repo or f"a/{level.name.lower()}"
    known: Mapping[str, Any] = {
        "identity": secrets.token_hex(32),
        "delivery_id": "d1",
        "repo": name,
        "repo_key": name.casefold(),
        "workflow": "CI",
        "job_name": "build",
        "run_id": "100",
        "run_attempt": 1,
        "event_type": "pull_request",
        "level": level.name,
        "upstream_repo": UPSTREAM,
        "pr_number": 7,
        "head_sha": S1,
        "state": JobState.IN_PROGRESS,
        "conclusion": None,
        "assumed": "",
        "in_progress_at": now,
        "queue_time": 30.0,
        "deadline_at": now + timedelta(hours=6),
        "url": "",
        "callback": callback(),
        "mismatch": [],
    }
    return BackendJob(**{**known, **columns})


def completed(now: datetime, conclusion: str | None = "success", **columns: Any) -> BackendJob:
    """The same job, ended now after a minute."""
    ended: Mapping[str, Any] = {
        "state": JobState.COMPLETED,
        "conclusion": conclusion,
        "completed_at": now,
        "execution_time": 60.0,
        "deadline_at": None,
        "callback": callback("completed", conclusion=conclusion),
    }
    return a_job(now, **{**ended, **columns})
