"""Check runs on upstream commits: which jobs are shown there, how they look, and the letters that keep them current.

A job has one check run: it is created once and updated from then on (the original creates another one each time, and so
does the strict mode). What is shown comes from our own record of the dispatch, never from a backend's echo of it.
Source: crcr-protocol 1.8.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Level
from relay.crcr.demotions import suppresses
from relay.crcr.endings import ending_of
from relay.github.types import CheckRun, GitHubError
from relay.outbox.queue import enqueue
from relay.outbox.types import Ending, Letter, Sent, Undeliverable
from relay.parts import GitHub
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, CheckWish, JobState, OutboxItem, OutboxKind
from relay.store.engine import Store
from relay.store.one_by_one import one_by_one
from relay.store.upsert import insert_into

_log = structlog.get_logger(__name__)

#: What the names of our check runs begin with.
PREFIX = "crcr/"
#: GitHub's numbers are far from it, and Python refuses to read very long ones.
_RUN_DIGITS = 18


def run_number(run_id: str) -> int | None:
    """GitHub's number of a workflow run; None for a run of another CI. 0 is nobody's."""
    plain = run_id.isascii() and run_id.isdecimal() and len(run_id) <= _RUN_DIGITS
    return int(run_id) or None if plain else None


@dataclass(frozen=True, slots=True)
class Wish:
    """Whose jobs are to be shown on which commit."""

    upstream_repo: str
    head_sha: str
    repo_key: str
    pr_number: int | None


def wish(session: Session, wanted: Wish, reason: str, now: datetime) -> None:
    """Have these jobs shown from now on; of several reasons the first stays."""
    session.execute(
        insert_into(session, CheckWish).values(**asdict(wanted), reason=reason, at=now).on_conflict_do_nothing()
    )


def wished(session: Session, upstream_repo: str, head_sha: str, repo_key: str) -> bool:
    """Whether somebody asked to have this backend's jobs on this commit shown."""
    found = session.scalar(
        select(CheckWish.id).where(
            CheckWish.head_sha == head_sha,
            CheckWish.repo_key == repo_key,
            # As GitHub wrote it in this webhook or that; letter case tells nothing apart.
            func.lower(CheckWish.upstream_repo) == upstream_repo.lower(),
        )
    )
    return found is not None


def in_line(session: Session, head_sha: str) -> None:
    """Wait for whoever has a wish for this commit, or asks for one. Else a label that comes with a job's report would
    not see the job, nor the report the wish, and nobody would show it."""
    one_by_one(session, f"checks/{head_sha}")


def is_shown(session: Session, job: BackendJob, level: Level) -> bool:
    """Whether this job has a check run: at L4 always, at L3 when that is wished and the backend is not about to be
    lowered, and only where there is a pull request to look at. A push belongs to one by its tag only. Ask when the job
    is written: a label that comes later then finds it."""
    of_a_pull = job.pr_number is not None or job.event_type == "pull_request"
    if level < Level.L3 or not job.head_sha or not of_a_pull:
        return False
    if level is Level.L4:
        return True
    in_line(session, job.head_sha)
    return wished(session, job.upstream_repo, job.head_sha, job.repo_key) and not suppresses(session, job, level)


def check_of(job: BackendJob, web_url: str) -> CheckRun:
    """The check run that shows a job as the record knows it now. `web_url` is GitHub's own address."""
    completed = job.state is JobState.COMPLETED
    details = details_url(job, web_url)
    summary = f"{job.repo} workflow: {details}"
    return CheckRun(
        # The original shows a job without a name as this word; only the strict mode takes such a job.
        name=f"{PREFIX}{job.repo}/{job.workflow}/{job.job_name or 'None'}",
        head_sha=job.head_sha,
        status=job.state.value,
        conclusion=job.conclusion if completed else None,
        details_url=details,
        external_id=job.run_id if job.pr_number is None else f"{job.run_id}:{job.pr_number}",
        title=(job.conclusion or "completed").capitalize() if completed else "In progress",
        summary=f"{summary}\n\nAssumed, not reported: {job.assumed}" if completed and job.assumed else summary,
    )


def details_url(job: BackendJob, web_url: str) -> str:
    """Where the job can be looked at: the run on GitHub, which is built here and not believed. A run of another CI is
    found by the address that its backend gives, if it is a web address."""
    if run_number(job.run_id) is not None:
        return f"{web_url}/{job.repo}/actions/runs/{job.run_id}"
    return job.url if job.url.startswith("https://") else f"{web_url}/{job.repo}"


def show(session: Session, settings: RelaySettings, job: BackendJob, now: datetime) -> bool:
    """Queue the check run of a job as it stands now. False when exactly this is queued or shown already."""
    body: dict[str, Any] = {"check": asdict(check_of(job, settings.github_web_url))}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]
    key = f"check/{job.id}/{digest}"
    if settings.crcr_strict_compat:
        # The original creates one more at every occasion, even an equal one.
        body["anew"] = True
        key += f"/{now.timestamp()}"
    return enqueue(
        session,
        kind=OutboxKind.CHECK_RUN,
        key=key,
        lane=f"check/{job.id}",
        target=job.upstream_repo,
        body=body,
        now=now,
        job_id=job.id,
    )


class CheckRunSender:
    """Creates a job's check run, and updates it from then on. Its lane keeps the letters of one job in order."""

    def __init__(self, github: GitHub, store: Store) -> None:
        self._github = github
        self._store = store

    def send(self, letter: Letter) -> Ending:
        """Create or update; a check run that is no longer there is created again."""
        check = CheckRun(**letter.body["check"])
        try:
            known = None if letter.body.get("anew") else self._known(letter, check)
            if known is not None and self._updated(letter.target, known, check):
                return Sent({"check_id": known})
            return Sent({"check_id": self._github.create_check_run(letter.target, check)})
        except GitHubError as error:
            return ending_of(error)

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Remember the check run of the job."""
        job = session.get(BackendJob, item.job_id) if item.job_id is not None else None
        if isinstance(ending, Sent) and job is not None:
            job.check_id = ending.answer["check_id"]
        if isinstance(ending, Undeliverable):
            _log.error("check_run_refused", repo=item.target, job=item.job_id, reason=ending.reason)

    def _known(self, letter: Letter, check: CheckRun) -> int | None:
        """The job's check run. An earlier attempt may have created one, and its answer been lost, or our process."""
        with self._store.reading() as session:
            known = session.scalar(select(BackendJob.check_id).where(BackendJob.id == letter.job_id))
        if known is not None or letter.attempt == 1:
            return known
        seen = self._github.named_check_runs(letter.target, check.head_sha, check.name)
        alike = [one.id for one in seen if one.external_id == check.external_id]
        with self._store.reading() as session:
            # Attempts of one run look alike; another attempt's check run is not this one's.
            others = set(session.scalars(select(BackendJob.check_id).where(BackendJob.head_sha == check.head_sha)))
        return next((one for one in alike if one not in others), None)

    def _updated(self, repo: str, check_id: int, check: CheckRun) -> bool:
        try:
            self._github.update_check_run(repo, check_id, check)
        except GitHubError as error:
            if error.status != 404:
                raise
            return False
        return True


def shown_name(job: BackendJob) -> str:
    """How an answer about check runs names a job."""
    return f"{job.repo}/{job.job_name or 'None'}"
