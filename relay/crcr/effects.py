"""What follows an accepted callback: its result in our own record, its check run upstream, its copy to another HUD.

`apply` belongs into the transaction that writes the job's state, so that no state is without its effects; `finish`
comes after the commit. Nothing here decides whether a callback is accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy.orm import Session

from relay.allowlist.types import Level, repo_key
from relay.context import RelayContext
from relay.crcr import check_runs, hud_forward, verification
from relay.hud.errors import HudError
from relay.hud.recording import record_result
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Effects:
    """What is left to do once the transaction is committed."""

    envelope: Mapping[str, Any] = field(repr=False)


def apply(
    session: Session,
    settings: RelaySettings,
    job: BackendJob,
    callback: Mapping[str, Any],
    *,
    level: Level,
    now: datetime,
    assumed: str = "",
) -> Effects:
    """Let a job's new state take effect. `callback` is the body as it came (or, with `assumed`, as we suppose it);
    `job` is already in its new state, its times included, and has an id."""
    posted = hud_forward.job_envelope(job, level.name, callback, assumed=assumed)
    record(session, settings, posted, now)
    if check_runs.is_shown(session, job, level):
        check_runs.show(session, settings, job, now)
    if not settings.crcr_strict_compat:
        hud_forward.queue(session, settings, f"job/{job.id}", posted, now=now, job_id=job.id)
        verification.plan(job, level, now)
    return Effects(posted)


def apply_self_report(
    session: Session, settings: RelaySettings, repo: str, callback: Mapping[str, Any], *, level: Level, now: datetime
) -> Effects:
    """Let the report of a scheduled run take effect: no delivery, no state and no check run belong to it."""
    posted = hud_forward.envelope(repo, level.name, callback)
    record(session, settings, posted, now)
    if not settings.crcr_strict_compat:
        hud_forward.queue(session, settings, f"report/{_report_lane(repo, callback)}", posted, now=now)
    return Effects(posted)


def finish(context: RelayContext, effects: Effects) -> None:
    """After the commit, without a transaction: the strict mode forwards to the external HUD here and now.

    Raises:
        relay.crcr.callback.CallbackRefusedError: only in strict mode, what the original answers when its HUD fails.
    """
    if context.settings.crcr_strict_compat:
        hud_forward.forward_now(context.settings, effects.envelope)


def record(session: Session, settings: RelaySettings, posted: Mapping[str, Any], now: datetime) -> None:
    """Keep an envelope in our own results store, if it names a row there."""
    strict = settings.crcr_strict_compat
    verdict = posted["untrusted"]["callback_payload"]["workflow"].get("triage_verdict")
    own = posted if strict else _with_check_name(posted)
    try:
        record_result(session, own, now, triage_verdict=verdict if isinstance(verdict, dict) else None, strict=strict)
    except HudError as error:
        # The job's own state is kept all the same; only the results store has no row for such a report.
        _log.warning("result_not_recorded", repo=posted["trusted"]["verified_repo"], reason=error.message)


def _with_check_name(posted: Mapping[str, Any]) -> Mapping[str, Any]:
    """The envelope for our own record: a job of a CI that has no check runs is named as the public reporter names it,
    for a row's name needs one."""
    callback = posted["untrusted"]["callback_payload"]
    workflow = callback["workflow"]
    if workflow.get("check_run_id") not in (None, ""):
        return posted
    named = {**workflow, "check_run_id": f"{workflow.get('run_id')}-{workflow.get('run_attempt') or 1}"}
    return {**posted, "untrusted": {"callback_payload": {**callback, "workflow": named}}}


def _report_lane(repo: str, callback: Mapping[str, Any]) -> str:
    """Reports of one scheduled job overtake each other never, those of different jobs freely."""
    workflow = callback["workflow"]
    parts = (repo_key(repo), callback["delivery_id"], workflow.get("name"), workflow.get("job_name"))
    return hashlib.sha256(repr(parts).encode(errors="replace")).hexdigest()
