"""L3 backends that are to be lowered: while the pull request that lowers one is open, nothing new of it is shown.

Owns who is demoted since when, and looking after it. The pull request is upstream's (branch
`crcr-demotion/<owner>/<name>`); people merge or close it. Source: crcr-protocol 5.8.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Level, repo_key
from relay.context import RelayContext
from relay.github.types import GitHubError
from relay.parts import AllowlistUnavailableError, CrcrParts, GitHub
from relay.store.crcr_models import BackendJob, Demotion, OutboxItem, OutboxKind
from relay.store.upsert import insert_into

_log = structlog.get_logger(__name__)

BRANCH = "crcr-demotion/"


def suppresses(session: Session, job: BackendJob, level: Level) -> bool:
    """Whether a demotion keeps this job's check from being shown: a new one always, one that was there before only when
    the job began after the demotion."""
    if level is not Level.L3:
        return False
    since = session.scalar(select(Demotion.since).where(Demotion.repo_key == job.repo_key))
    if since is None:
        return False
    began_before = job.in_progress_at is not None and job.in_progress_at < since
    return not (began_before and _has_check(session, job))


def reconcile(context: RelayContext, stopping: Callable[[], bool] = lambda: False) -> None:
    """Learn which demotions began and which ended. A repository that cannot be looked up stays as it is. None is looked
    up any more once `stopping` is true, or GitHub gives no answer at all: each would wait for it in vain."""
    parts = context.crcr
    if parts is None or parts.github is None:
        return
    upstream = context.settings.upstream_repo
    with context.store.reading() as session:
        demoted = {row.repo_key: row.repo for row in session.scalars(select(Demotion))}
    for repo in _watched(parts, demoted):
        if stopping():
            break
        pull = _open_pull(parts.github, upstream, repo)
        if isinstance(pull, GitHubError) and pull.passing and pull.status is None:
            break
        if isinstance(pull, int) and repo_key(repo) not in demoted:
            _begin(context, repo, pull)
        elif pull is None and repo_key(repo) in demoted and _refreshed(parts):
            # The new level first: between the two, a check of the old level must not slip through.
            _end(context, repo)


def _has_check(session: Session, job: BackendJob) -> bool:
    wanted = (OutboxItem.job_id == job.id, OutboxItem.kind == OutboxKind.CHECK_RUN)
    return job.check_id is not None or session.scalar(select(OutboxItem.id).where(*wanted).limit(1)) is not None


def _watched(parts: CrcrParts, demoted: dict[str, str]) -> tuple[str, ...]:
    """The repositories that are or were at L3: one that was lowered is watched until its demotion has ended."""
    try:
        allowlist = parts.allowlist.current().allowlist
    except AllowlistUnavailableError:
        allowlist = Allowlist()
    listed = {backend.key: backend.repo for backend in allowlist.backends if backend.level is Level.L3}
    return tuple((demoted | listed).values())


def _open_pull(github: GitHub, upstream: str, repo: str) -> int | GitHubError | None:
    """The number of the pull request that lowers a repository, None when there is none, the error when nobody knows."""
    try:
        pull = github.open_pull_from(upstream, BRANCH + repo)
    except GitHubError as error:
        _log.warning("demotion_unknown", repo=repo, reason=error.message)
        return error
    return None if pull is None else pull.number


def _refreshed(parts: CrcrParts) -> bool:
    """Whether the newest allowlist is in force."""
    try:
        return not parts.allowlist.refresh().problem
    except AllowlistUnavailableError as error:
        _log.warning("demotion_kept", reason=str(error))
        return False


def _begin(context: RelayContext, repo: str, pull: int) -> None:
    _log.warning("demotion_began", repo=repo, pull=pull)
    with context.store.writing() as session:
        _insert(session, repo, pull, context.now())


def _insert(session: Session, repo: str, pull: int, now: datetime) -> None:
    row = {"repo_key": repo_key(repo), "repo": repo, "pr_number": pull, "since": now}
    session.execute(insert_into(session, Demotion).values(**row).on_conflict_do_nothing())


def _end(context: RelayContext, repo: str) -> None:
    _log.info("demotion_ended", repo=repo)
    with context.store.writing() as session:
        session.execute(delete(Demotion).where(Demotion.repo_key == repo_key(repo)))
