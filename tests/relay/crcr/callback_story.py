"""A backend that was dispatched and reports, for tests of what its reports do to the record."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from sqlalchemy import select

from relay.allowlist.types import Backend, Level
from relay.crcr.callback import Callback, parse_callback
from relay.crcr.job_record import Taken
from relay.crcr.jobs import take_callback
from relay.crcr.nonce import envelope_key
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, BackendJobEvent, Dispatch, DispatchState
from relay.store.engine import Store

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
UPSTREAM = "pytorch/pytorch"
SHA = "1" * 40


@dataclass
class BackendStory:
    """`backend` is asked about pull request 7 in delivery `d1` and reports of run 100, workflow `CI`, job `build`. Its
    reports echo `crcr`, the proof that the dispatch carried."""

    store: Store
    settings: RelaySettings
    backend: Backend = field(default_factory=lambda: Backend("a/l2", Level.L2))
    now: datetime = NOW
    crcr: dict[str, Any] | None = None

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def dispatched(self, **changes: Any) -> None:
        """The dispatch was sent now."""
        told: dict[str, Any] = {
            "delivery_id": "d1",
            "repo": self.backend.repo,
            "repo_key": self.backend.key,
            "level": self.backend.level.name,
            "event_type": "pull_request",
            "upstream_repo": UPSTREAM,
            "pr_number": 7,
            "head_sha": SHA,
            "nonce": "random",
            "state": DispatchState.DISPATCHED,
            "queued_at": self.now,
            "dispatched_at": self.now,
        }
        with self.store.writing() as session:
            dispatch = Dispatch(**(told | changes))
            session.add(dispatch)
            session.flush()
            self.crcr = envelope_key(self.settings, dispatch)

    def callback(self, status: str = "in_progress", *, proof: object = ..., **workflow: Any) -> Callback:
        """A report. Arguments are keys of its `workflow`, but `event_type`, `delivery_id` and `payload` of the body."""
        body: dict[str, Any] = {"event_type": "pull_request", "delivery_id": "d1", "payload": {}}
        body |= {key: workflow.pop(key) for key in list(workflow) if key in body}
        told = {"status": status, "name": "CI", "run_id": "100", "job_name": "build"}
        if status == "completed":
            told["conclusion"] = "success"
        body |= {"crcr": self.crcr if proof is ... else proof, "workflow": told | workflow}
        return parse_callback(body, strict=self.settings.crcr_strict_compat)

    def report(self, status: str = "in_progress", **changes: Any) -> Taken:
        """Report now, in a transaction."""
        with self.store.writing() as session:
            return take_callback(session, self.settings, self.backend, self.callback(status, **changes), self.now)

    def jobs(self) -> list[BackendJob]:
        """The jobs, in the order in which they were heard of."""
        with self.store.reading() as session:
            return list(session.scalars(select(BackendJob).order_by(BackendJob.id)))

    def history(self) -> list[str]:
        """The kinds of what happened, in order."""
        with self.store.reading() as session:
            return list(session.scalars(select(BackendJobEvent.kind).order_by(BackendJobEvent.id)))

    def dispatch(self) -> Dispatch:
        """The one dispatch."""
        with self.store.reading() as session:
            return session.scalars(select(Dispatch)).one()


def story_settings(folder: Path, *, strict: bool = False) -> RelaySettings:
    """Settings of a relay in one mode."""
    return RelaySettings(
        state_dir=folder / "state", webhook_secret=SecretStr("webhook-secret-for-tests"), crcr_strict_compat=strict
    )
