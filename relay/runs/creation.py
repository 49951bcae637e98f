"""How runs begin, and how they are called off: opening, superseding, cancelling, asking again.

Everything here works inside the caller's writing session and wakes nobody: commit first, then wake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from relay.contract import ShardKind
from relay.errors import ConflictError, NotFoundError
from relay.queue_views import WorkClass
from relay.runs.endings import call_off
from relay.runs.shard_lines import SELECT_ORDINAL
from relay.runs.standing import standing
from relay.runs.states import FINAL_RUN_STATES, lock_run, note
from relay.store.many_rows import insert_rows
from relay.store.models import PlannedTest, Run, Shard, ShardState, Trigger
from relay.store.upsert import insert_for
from relay.views import RunState, Verdict

#: What "rerun the failed tests" means: everything a second look could change.
RERUN_VERDICTS = frozenset(
    {
        *(Verdict.REGRESSION, Verdict.CRASH, Verdict.TIMEOUT),
        *(Verdict.MISSING, Verdict.FLAKY, Verdict.INFRA),
    }
)


#: The unfinished runs of a pull request, and those of one device that are older than a run. Written once: making a
#: statement costs more than running it, and there is one for most webhooks.
_OF_PULL = select(Run.id).where(
    func.lower(Run.repo) == bindparam("of_repo"),
    Run.pr_number == bindparam("of_pull"),
    Run.state.not_in(FINAL_RUN_STATES),
)
_OLDER = _OF_PULL.where(Run.device == bindparam("of_device"), Run.id < bindparam("than")).order_by(Run.id)


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run that is asked for. `identity` names the asking (a delivery, the nth rerun of a change): the same identity
    never makes two runs. `only` limits the plan to these test ids, or to all variants of these base tests; `release` is
    the torch that they need, where it matters; `full` says why every test runs, empty when that is
    not asked for. `work_class` is for the queue, where the rest does not tell it (`relay.runs.standing`)."""

    identity: str
    repo: str
    kind: str
    base_sha: str
    head_sha: str
    device: str
    trigger: Trigger
    pr_number: int | None = None
    title: str = ""
    body: str = ""
    base_ref: str = ""
    fetch_ref: str = ""
    attempt: int = 1
    rerun_of: int | None = None
    only: tuple[str, ...] = ()
    release: str = ""
    full: str = ""
    work_class: WorkClass | None = None


def open_run(session: Session, new: NewRun, now: datetime) -> Run:
    """The run of this identity, opened with its select shard unless it is there already.

    A run that a webhook asks for supersedes the unfinished older runs of its pull request on its device.
    """
    # Most are new: not asked for before. Of two who open the same, the database lets one through, and the other waits.
    run = session.scalar(_opening(session.get_bind().dialect.name), _values(new, now))
    if run is None:
        return session.scalars(select(Run).where(Run.identity == new.identity)).one()
    select_shard = {"run_id": run.id, "ordinal": SELECT_ORDINAL, "kind": ShardKind.SELECT, "state": ShardState.DUE}
    insert_rows(session, Shard, [select_shard])
    note(session, run.id, now, "run.received", f"Run {run.id} opened by {new.trigger}, attempt {new.attempt}.")
    if new.trigger is Trigger.WEBHOOK and run.pr_number is not None:
        supersede(session, run, now)
    return run


@cache
def _opening(dialect: str) -> ReturningInsert[Run]:
    """Made once: making it takes longer than running it, and there is a run for most webhooks."""
    return insert_for(dialect, Run).on_conflict_do_nothing(index_elements=["identity"]).returning(Run)


def _values(new: NewRun, now: datetime) -> dict[str, Any]:
    place = standing(new.trigger, new.repo, new.pr_number, new.base_ref, known=new.work_class)
    return {
        "identity": new.identity,
        "repo": new.repo,
        "kind": new.kind,
        "pr_number": new.pr_number,
        "title": new.title,
        "body": new.body,
        "base_ref": new.base_ref,
        "base_sha": new.base_sha,
        "head_sha": new.head_sha,
        "fetch_ref": new.fetch_ref,
        "device": new.device,
        "trigger": new.trigger,
        "attempt": new.attempt,
        "rerun_of": new.rerun_of,
        "only": list(new.only),
        "release": new.release,
        "full": new.full,
        "work_class": place.work_class,
        "group_key": place.group_key,
        "asked": place.asked,
        "state": RunState.RECEIVED,
        "created_at": now,
    }


def full_run_of(session: Session, new: NewRun) -> Run | None:
    """The newest run that does, or did, every test of the same head; one that was called off does not count."""
    same = (
        Run.repo == new.repo,
        Run.head_sha == new.head_sha,
        Run.device == new.device,
        Run.pr_number == new.pr_number,
    )
    lasting = Run.state.not_in([RunState.CANCELLED, RunState.FAILED])
    return session.scalar(select(Run).where(*same, lasting, Run.full != "").order_by(Run.id.desc()).limit(1))


def supersede(session: Session, run: Run, now: datetime) -> None:
    """Cancel the unfinished older runs of the pull request of `run`, on its device."""
    told = {"of_repo": run.repo.lower(), "of_pull": run.pr_number, "of_device": run.device, "than": run.id}
    for run_id in session.scalars(_OLDER, told).all():
        cancel_run(session, run_id, now, f"Superseded by run {run.id}.")


def cancel_pull_request(session: Session, repo: str, pr_number: int, now: datetime, *, reason: str) -> tuple[int, ...]:
    """Cancel the unfinished runs of a pull request, on all devices. The ids cancelled."""
    cancelled = tuple(session.scalars(_OF_PULL.order_by(Run.id), {"of_repo": repo.lower(), "of_pull": pr_number}))
    for run_id in cancelled:
        cancel_run(session, run_id, now, reason)
    return cancelled


def cancel_run(session: Session, run_id: int, now: datetime, reason: str) -> Run:
    """Cancel an unfinished run; a finished one stays as it is, so that asking twice is no error.

    Raises:
        NotFoundError: no such run.
    """
    run = _existing(session, run_id)
    if run.state not in FINAL_RUN_STATES:
        call_off(session, run, RunState.CANCELLED, now, reason)
    return run


def rerun(
    session: Session, run_id: int, now: datetime, *, failed_only: bool, full: str = "", tests: Sequence[str] = ()
) -> Run:
    """Open a new run of the same change: its plan again, only the tests that did not end well, only `tests` (ids of
    tests it had planned), or, for the reason `full`, every test there is. Who asks twice, or asks with somebody else,
    gets the one run that does just that and is not over yet.

    Raises:
        NotFoundError: no such run.
        ConflictError: the run is not finished, has nothing to run again, did not plan one of the tests, or more than
            one of those is asked for.
    """
    if failed_only and full:
        raise ConflictError(
            "Every test and only the failed ones cannot both be run.", "Ask for one of them.", code="full_and_failed"
        )
    if tests and (failed_only or full):
        raise ConflictError(
            "Tests are named, so neither all nor the failed ones can be asked for as well.",
            "Leave out one of them.",
            code="tests_and_more",
        )
    old = _existing(session, run_id)
    if old.state not in FINAL_RUN_STATES:
        raise ConflictError(
            f"Run {old.id} is not finished yet; it is {old.state}.",
            f"Wait for it (relay run watch {old.id}) or cancel it first (relay run cancel {old.id}).",
            code="run_unfinished",
        )
    if tests:
        only = _planned(session, old, tests)
    else:
        only = () if full else _to_repeat(session, old) if failed_only else tuple(old.only)
    new = _again(old, _last_attempt(session, old) + 1, only, full or ("" if only else old.full))
    return _under_way(session, new) or open_run(session, new, now)


def _again(old: Run, attempt: int, only: tuple[str, ...], full: str) -> NewRun:
    return NewRun(
        identity=f"rerun:{old.id}:{attempt}",
        repo=old.repo,
        kind=old.kind,
        base_sha=old.base_sha,
        head_sha=old.head_sha,
        device=old.device,
        trigger=Trigger.RERUN,
        pr_number=old.pr_number,
        title=old.title,
        body=old.body,
        base_ref=old.base_ref,
        fetch_ref=old.fetch_ref,
        attempt=attempt,
        rerun_of=old.id,
        only=only,
        release=old.release,
        full=full,
        work_class=old.work_class,
    )


def _under_way(session: Session, new: NewRun) -> Run | None:
    """The run that was asked for in the same words already. Whoever asks holds the lock of the run that is repeated."""
    query = select(Run).where(Run.rerun_of == new.rerun_of, Run.full == new.full, Run.state.not_in(FINAL_RUN_STATES))
    return next((run for run in session.scalars(query.order_by(Run.id)) if tuple(run.only) == new.only), None)


def _to_repeat(session: Session, old: Run) -> tuple[str, ...]:
    query = select(PlannedTest.test_id).where(
        PlannedTest.run_id == old.id, PlannedTest.verdict.in_(sorted(RERUN_VERDICTS))
    )
    found = tuple(session.scalars(query.order_by(PlannedTest.id)))
    if not found:
        raise ConflictError(
            f"Run {old.id} has no failed test to run again.",
            f"Run everything again without --failed (relay run rerun {old.id}).",
            code="nothing_failed",
        )
    return found


def _planned(session: Session, old: Run, tests: Sequence[str]) -> tuple[str, ...]:
    """`tests` in the order of the old plan, each once."""
    possible = {test for test in tests if "\0" not in test}  # PostgreSQL refuses to compare with NUL
    query = select(PlannedTest.test_id).where(PlannedTest.run_id == old.id, PlannedTest.test_id.in_(possible))
    found = tuple(session.scalars(query.order_by(PlannedTest.id)))
    if unknown := [test for test in tests if test not in found]:
        raise ConflictError(
            f"Run {old.id} did not plan {unknown[0]}{f' (and {len(unknown) - 1} more)' if len(unknown) > 1 else ''}.",
            f"Name tests as the run's report does (relay run view {old.id}, or its page).",
            code="not_planned",
        )
    return found


def _last_attempt(session: Session, run: Run) -> int:
    same_change = (Run.repo == run.repo, Run.head_sha == run.head_sha, Run.device == run.device)
    return session.scalar(select(func.max(Run.attempt)).where(*same_change)) or run.attempt


def _existing(session: Session, run_id: int) -> Run:
    run = lock_run(session, run_id)
    if run is None:
        raise NotFoundError(f"There is no run {run_id}.", "relay run list shows the runs there are.")
    return run
