"""A backend of the fixture allowlist that is dispatched and answers, as the rows about callbacks need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx2 as httpx
from sqlalchemy import select, text

from relay.store.crcr_models import BackendJob, BackendJobEvent, CrcrResult
from tests.conformance.payloads import callback, pull_request
from tests.conformance.world import World


def dispatched(world: World, **changes: Any) -> None:
    """Pull request 7 was opened, and every backend has been told in delivery `d1`."""
    assert world.webhook("pull_request", pull_request(**changes)).status_code == 200
    if not world.strict:
        world.drain()
    assert "a/l2" in world.github.dispatched_to()


def answer(world: World, status: str = "in_progress", *, repo: str = "a/l2", **changes: Any) -> dict[str, Any]:
    """The body of a report of `repo` that echoes the envelope it was sent. `changes` are keys of its `workflow`."""
    envelope = next(sent.client_payload for sent in reversed(world.github.dispatches) if sent.repo == repo)
    return {**envelope, "workflow": callback(status, **changes)["workflow"]}


def report(world: World, status: str = "in_progress", *, repo: str = "a/l2", **changes: Any) -> httpx.Response:
    """Report as `repo`, and let everything that follows from it happen."""
    answered = world.callback(answer(world, status, repo=repo, **changes), repo=repo)
    if not world.strict:
        world.drain()
    return answered


def jobs(world: World) -> Sequence[BackendJob]:
    """The record's jobs, oldest first."""
    with world.session() as session:
        return session.scalars(select(BackendJob).order_by(BackendJob.id)).all()


def results(world: World) -> Sequence[CrcrResult]:
    """The results store's rows, oldest first."""
    with world.session() as session:
        return session.scalars(select(CrcrResult).order_by(CrcrResult.id)).all()


def history(world: World) -> Sequence[str]:
    """What happened to jobs, in order."""
    with world.session() as session:
        return session.scalars(select(BackendJobEvent.kind).order_by(BackendJobEvent.id)).all()


def nothing_happened(world: World) -> bool:
    """Whether no report left a trace."""
    return not jobs(world) and not results(world) and not world.hud.tries


def lose(world: World, table: str) -> None:
    """A table of the record cannot be reached any more."""
    with world.context.store.writing() as session:
        session.execute(text(f"ALTER TABLE {table} RENAME TO {table}_lost"))
