"""Somebody asked on upstream's page for a check, or a whole suite, to run again: the backend's run is started again.

Each request is a row of the outbox, so that a webhook that comes twice starts nothing twice, and a GitHub that fails is
asked again; the webhook waits for the first try, because its answer tells of it. Source: crcr-protocol 1.9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from relay.allowlist.types import Backend, Level
from relay.context import RelayContext
from relay.crcr.check_runs import PREFIX, run_number
from relay.crcr.endings import ending_of
from relay.github.types import ALREADY_RUNNING, GitHubError
from relay.outbox.queue import NewItem, bounded, enqueue_all
from relay.outbox.types import Ending, Letter, Outbox, Postponed, Sent, Undeliverable
from relay.parts import CrcrParts, GitHub
from relay.store.crcr_models import BackendJob, OutboxItem, OutboxKind, OutboxState

_log = structlog.get_logger(__name__)

#: Owner, repository and workflow; a job's name may be missing, or hold more separators.
_SEGMENTS = 3
_FOREIGN = "not a crcr check run"
#: Longer than GitHub is waited for.
HEAD_START = timedelta(seconds=60)


class RerunFailedError(Exception):
    """A re-run that was asked for was not started. `detail` is the answer's, with the status 502."""

    status = 502

    def __init__(self, detail: Mapping[str, Any]) -> None:
        super().__init__(str(detail))
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Rerun:
    """One run of a backend that is to start again: its failed jobs, or all of it."""

    repo: str
    run: int
    failed_only: bool


def handle_rerequest(
    context: RelayContext, parts: CrcrParts, event: str, delivery_id: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    """Answer a `check_run` or `check_suite` webhook. Call it without a transaction: it asks GitHub.

    Raises:
        RerunFailedError: GitHub was asked and did not do it.
        AllowlistUnavailableError: there is no allowlist to tell whose checks may be run again.
    """
    if payload.get("action") != "rerequested":
        return {"ignored": True}
    if event == "check_suite":
        return _rerun_suite(context, parts, delivery_id, payload)
    return _rerun_check(context, parts, delivery_id, payload)


def backend_repo(check_name: str) -> str | None:
    """The repository that a check run's name tells of; None for a foreign check."""
    segments = check_name.removeprefix(PREFIX).split("/") if check_name.startswith(PREFIX) else []
    return "/".join(segments[:2]) if len(segments) >= _SEGMENTS and all(segments[:_SEGMENTS]) else None


def run_of(external_id: str) -> int | None:
    """The workflow run that a check run's external id tells of; None when there is none that GitHub could start."""
    return run_number(external_id.partition(":")[0])


def _rerun_check(
    context: RelayContext, parts: CrcrParts, delivery_id: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    check = payload.get("check_run")
    named = _named(check.get("name"), check.get("external_id")) if isinstance(check, dict) else None
    if named is None:
        return {"ignored": True, "reason": _FOREIGN}
    backend = _trusted(parts, named[0])
    if backend is None:
        return {"ignored": True, "reason": "downstream repo not L3+"}
    wanted = Rerun(backend.repo, named[1], failed_only=True)
    ending = _ask(context, delivery_id, [wanted])[wanted]
    if isinstance(ending, Sent):
        if ending.answer.get("already_running"):
            return {"ok": True, "rerun": [], "already_running": True}
        return {"ok": True, "rerun": [wanted.repo]}
    raise RerunFailedError(
        {"message": "failed to rerun downstream run", "repo": wanted.repo, "error": ending.reason}
        | ({"queued": True} if isinstance(ending, Postponed) else {})
    )


def _rerun_suite(
    context: RelayContext, parts: CrcrParts, delivery_id: str, payload: Mapping[str, Any]
) -> dict[str, Any]:
    suite = payload.get("check_suite")
    number = suite.get("id") if isinstance(suite, dict) else None
    if isinstance(number, bool) or not isinstance(number, int):
        return {"ignored": True, "reason": "missing check_suite id"}
    wanted = _reruns_of(parts, _suite_checks(context, parts, number))
    endings = _ask(context, delivery_id, wanted)
    started = [one.repo for one in wanted if _started(endings[one])]
    for one in wanted:
        if not _started(endings[one]):
            _log.warning("suite_rerun_skipped", repo=one.repo, run=one.run, ending=str(endings[one]))
    return {"ok": True, "rerun": started}


def _suite_checks(context: RelayContext, parts: CrcrParts, suite: int) -> Iterable[tuple[str, int]]:
    """The repositories and runs of the suite's check runs that are ours.

    Raises:
        RerunFailedError: the suite cannot be read.
    """
    failure = {"message": "failed to list the check runs of the suite", "repo": context.settings.upstream_repo}
    if parts.github is None:
        raise RerunFailedError({**failure, "error": "this relay has no GitHub App"})
    try:
        seen = parts.github.suite_check_runs(context.settings.upstream_repo, suite)
    except GitHubError as error:
        raise RerunFailedError({**failure, "error": error.message}) from error
    named = (_named(check.name, check.external_id) for check in seen)
    return [one for one in named if one is not None]


def _reruns_of(parts: CrcrParts, named: Iterable[tuple[str, int]]) -> Sequence[Rerun]:
    """One for each run, in the suite's order."""
    wanted: dict[Rerun, None] = {}
    for repo, run in named:
        backend = _trusted(parts, repo)
        if backend is not None:
            wanted[Rerun(backend.repo, run, failed_only=False)] = None
    return tuple(wanted)


def _named(name: object, external_id: object) -> tuple[str, int] | None:
    repo = backend_repo(name) if isinstance(name, str) else None
    run = run_of(external_id) if isinstance(external_id, str) else None
    return None if repo is None or run is None else (repo, run)


def _trusted(parts: CrcrParts, repo: str) -> Backend | None:
    backend = parts.allowlist.current().allowlist.find(repo)
    return backend if backend is not None and backend.level >= Level.L3 else None


def _started(ending: Ending) -> bool:
    return isinstance(ending, Sent) and not ending.answer.get("already_running")


def _ask(context: RelayContext, delivery_id: str, wanted: Sequence[Rerun]) -> Mapping[Rerun, Ending]:
    """Queue the requests, have them sent now, and tell how each ended; one of an earlier delivery as it ended then."""
    items, now = [_item(delivery_id, one) for one in wanted], context.now()
    with context.store.writing() as session:
        # The background deliverers leave them to us for so long: the answer is to tell how the first try ended.
        enqueue_all(session, items, now, due_at=now + HEAD_START)
        ids = {row.key: row.id for row in _rows(session, items)}
    endings = _delivered(context.outbox, tuple(ids.values()))
    with context.store.reading() as session:
        rows = {row.key: row for row in _rows(session, items)}
    keys = [bounded(item.key) for item in items]
    return {one: endings.get(ids[key]) or _settled(rows[key]) for one, key in zip(wanted, keys, strict=True)}


def _item(delivery_id: str, wanted: Rerun) -> NewItem:
    key = f"rerun/{delivery_id}/{wanted.repo.casefold()}/{wanted.run}/{'failed' if wanted.failed_only else 'all'}"
    body = {"run_id": wanted.run, "failed_only": wanted.failed_only}
    return NewItem(OutboxKind.RERUN, key, key, wanted.repo, body)


def _rows(session: Session, items: Sequence[NewItem]) -> Sequence[OutboxItem]:
    return session.scalars(select(OutboxItem).where(OutboxItem.key.in_([bounded(item.key) for item in items]))).all()


def _delivered(outbox: Outbox | None, ids: Sequence[int]) -> Mapping[int, Ending]:
    return outbox.deliver_now(ids) if outbox is not None and ids else {}


def _settled(row: OutboxItem) -> Ending:
    """How a row ended that was not open, or was not sent just now: another process may hold it."""
    if row.state is OutboxState.SENT:
        return Sent()
    if row.state is OutboxState.DEAD:
        return Undeliverable(row.last_error, row.last_status)
    return Postponed(row.last_error or "it waits for its turn")


class RerunSender:
    """Starts runs of backends again."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    def send(self, letter: Letter) -> Ending:
        """Ask for it. A run that is running already is as good as started again."""
        ask = self._github.rerun_failed_jobs if letter.body["failed_only"] else self._github.rerun
        try:
            ask(letter.target, letter.body["run_id"])
        except GitHubError as error:
            if ALREADY_RUNNING in error.message.lower():
                return Sent({"already_running": True})
            return ending_of(error)
        return Sent()

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Keep with the run's jobs when somebody asked: their next attempt has been waited for since then."""
        if _started(ending):
            mine = (BackendJob.repo_key == item.target.casefold(), BackendJob.run_id == str(item.body["run_id"]))
            session.execute(update(BackendJob).where(*mine).values(rerun_requested_at=item.created_at))
