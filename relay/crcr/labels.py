"""The label `ciflow/crcr/<device>` on a pull request: the checks of that device's L3 backends are shown.

Jobs that were reported before the label came are shown at once. Nothing is sent here: letters are queued in the
caller's transaction. Source: crcr-protocol 1.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Participation
from relay.crcr.check_runs import Wish, in_line, is_shown, show, shown_name, wish
from relay.crcr.pr_context import part, upstream_context
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob

PREFIX = "ciflow/crcr/"


def device_of(label: str) -> str | None:
    """The device that a label names; None for labels of other kinds."""
    return label.removeprefix(PREFIX) if label.startswith(PREFIX) else None


def handle_label(
    session: Session, settings: RelaySettings, allowlist: Allowlist, payload: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """Answer a `labeled` webhook: which jobs got a check run by it. Doing it twice is the same as doing it once."""
    name = part(payload, "label").get("name")
    device = device_of(name) if isinstance(name, str) else None
    if device is None:
        return {"ignored": True}
    pull = upstream_context("pull_request", payload)
    if pull.pr_number is None or not pull.head_sha:
        return {"ignored": True, "reason": "missing pr context"}
    if part(payload, "pull_request").get("state") == "closed" and not settings.crcr_strict_compat:
        return {"ignored": True, "reason": "the pull request is closed"}
    in_line(session, pull.head_sha)
    created: list[str] = []
    for backend in allowlist.of_device(device):
        if not backend.takes_part_in(Participation.PULL_REQUEST):
            continue
        wanted = Wish(settings.upstream_repo, pull.head_sha, backend.key, pull.pr_number)
        wish(session, wanted, f"the label {name}", now)
        for job in _reported(session, settings, wanted, now):
            if is_shown(session, job, backend.level):
                show(session, settings, job, now)
                created.append(shown_name(job))
    return {"ok": True, "created_check_runs": created}


def _reported(session: Session, settings: RelaySettings, wanted: Wish, now: datetime) -> Sequence[BackendJob]:
    """The newest of each of a backend's jobs on this commit, unless it is too old to be of interest."""
    since = now - timedelta(seconds=settings.crcr_status_ttl_s)
    newest = (
        select(func.max(BackendJob.id))
        .where(BackendJob.head_sha == wanted.head_sha, BackendJob.repo_key == wanted.repo_key)
        .where(func.coalesce(BackendJob.completed_at, BackendJob.in_progress_at) > since)
        .group_by(BackendJob.workflow, BackendJob.job_name)
    )
    return session.scalars(select(BackendJob).where(BackendJob.id.in_(newest)).order_by(BackendJob.id)).all()
