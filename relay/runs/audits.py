"""Audits: everything is run on the branch now and then, and what broke is held against the plans that were trusted.

An audit is a full run of the branch's head against the head of the audit before. It keeps no state of its own: its
run, the runs that confirm who missed a test, and one line of history when it is settled are all there is, so it goes
on after a restart, and two sweepers that look at once do the same. Everything works inside the caller's session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, selectinload

from relay.contract import Attempt
from relay.errors import ConflictError
from relay.queue_views import WorkClass
from relay.runs.creation import NewRun, open_run
from relay.runs.misses import remember_miss
from relay.runs.states import FINAL_RUN_STATES, lock_run, note
from relay.runs.verdicts import BREAKING, is_newly_broken
from relay.store.models import PlannedTest, Run, RunEvent, Selection, Trigger
from relay.views import RunState

#: How many changes are asked about one test before it stays unexplained.
MOST_CONFIRMED = 8
#: How many tests are asked about at once: an audit must not hold up the runs that people wait for.
MOST_OPEN = 10
SETTLED = "audit.settled"
MISSED = "audit.missed"
_CALLED_OFF = (RunState.CANCELLED, RunState.FAILED)


def open_audit(
    session: Session, repo: str, device: str, now: datetime, *, work_class: WorkClass = WorkClass.AUDIT
) -> Run:
    """The audit of the branch's newest head, opened unless it is there already. `work_class` is its place in the queue.

    The head is that of the newest push on record. Without an audit before, the base is where the oldest push on record
    began.

    Raises:
        ConflictError: no push to the branch is on record, or the newest is audited already.
    """
    of_branch = (_is_push(device), func.lower(Run.repo) == repo.lower())
    newest = session.scalar(select(Run).where(*of_branch).order_by(Run.id.desc()).limit(1))
    oldest = session.scalar(select(Run).where(*of_branch).order_by(Run.id).limit(1))
    if newest is None or oldest is None:
        raise ConflictError(
            f"No push to the branch of {repo} is on record, so there is nothing to audit.",
            "Let the upstream repository send push events to the relay's webhook.",
            code="nothing_to_audit",
        )
    before = session.scalar(
        select(Run)
        .where(Run.trigger == Trigger.AUDIT, Run.device == device, Run.state.not_in(_CALLED_OFF))
        .order_by(Run.id.desc())
        .limit(1)
    )
    if before is not None and before.head_sha == newest.head_sha:
        raise ConflictError(
            f"Run {before.id} audits {newest.head_sha[:10]} already, and nothing was pushed since.",
            f"relay audit show {before.id} shows it.",
            code="nothing_to_audit",
        )
    new = _audit_of(session, newest, before.head_sha if before else oldest.base_sha)
    return open_run(session, replace(new, work_class=work_class), now)


def open_daily_audit(session: Session, repo: str, device: str, at: time, now: datetime) -> Run | None:
    """The audit of the day that began at `at` (UTC), unless it was opened before or there is nothing to audit; then
    None. One that was not opened at its time is opened later."""
    begin = datetime.combine(now.date(), at, now.tzinfo)
    begin -= timedelta(days=1) if begin > now else timedelta()
    of_today = (Run.trigger == Trigger.AUDIT, Run.device == device, Run.created_at >= begin)
    if session.scalar(select(Run.id).where(*of_today).limit(1)) is not None:
        return None
    try:
        return open_audit(session, repo, device, now, work_class=WorkClass.NIGHTLY)
    except ConflictError:
        return None


def _audit_of(session: Session, newest: Run, base_sha: str) -> NewRun:
    called_off = session.scalar(
        select(func.count()).where(
            *(Run.trigger == Trigger.AUDIT, Run.device == newest.device),
            *(Run.head_sha == newest.head_sha, Run.state.in_(_CALLED_OFF)),
        )
    )
    return NewRun(
        identity=f"audit:{newest.device}:{newest.head_sha}:{called_off}",
        repo=newest.repo,
        kind="audit",
        base_sha=base_sha,
        head_sha=newest.head_sha,
        device=newest.device,
        trigger=Trigger.AUDIT,
        title=f"Audit of {newest.base_ref}"[:500],
        base_ref=newest.base_ref,
        fetch_ref=newest.fetch_ref,
        full="an audit runs every test, to see what the selections missed",
    )


def unsettled_audits(session: Session) -> tuple[int, ...]:
    """Finished audits that `advance_audit` has something to do for."""
    settled = select(RunEvent.id).where(RunEvent.run_id == Run.id, RunEvent.kind == SETTLED)
    finished = (Run.trigger == Trigger.AUDIT, Run.state == RunState.FINISHED)
    return tuple(session.scalars(select(Run.id).where(*finished, ~settled.exists()).order_by(Run.id)))


def advance_audit(session: Session, audit_id: int, now: datetime) -> bool:
    """Take a finished audit one step on: for every newly broken test that no change's run reported, ask the next change
    that did not run it; settle the audit when nothing is left to ask. Whether a run was opened."""
    audit = lock_run(session, audit_id)
    if audit is None or audit.state is not RunState.FINISHED or audit_id not in unsettled_audits(session):
        return False
    opened, open_questions = False, 0
    for test in newly_broken(session, audit.id):
        if is_caught(session, audit, test.test_id) or missed_by(session, audit, test.test_id):
            continue
        asked = confirmations(session, audit.id, test.test_id)
        if any(run.state not in FINAL_RUN_STATES for run in asked):
            open_questions += 1
            continue
        if open_questions >= MOST_OPEN:
            break
        suspect = _next_suspect(session, audit, test, asked)
        if suspect is not None:
            open_run(session, _confirmation(audit, suspect, test.test_id), now)
            opened, open_questions = True, open_questions + 1
    if not open_questions:
        _settle(session, audit, now)
    return opened


def newly_broken(session: Session, run_id: int) -> list[PlannedTest]:
    """The tests of a run that the changes between its ends broke, in order."""
    query = select(PlannedTest).where(PlannedTest.run_id == run_id, PlannedTest.verdict.in_(sorted(BREAKING)))
    rows = session.scalars(query.order_by(PlannedTest.id).options(selectinload(PlannedTest.attempts)))
    return [row for row in rows if is_broken(row)]


def is_caught(session: Session, audit: Run, test_id: str, *, first: int | None = None) -> bool:
    """Whether the run of some change, a push or a pull request, chose the test and reported it as broken. `first` is
    the audit's `first_push`, for who asks about many tests."""
    first = first_push(session, audit) if first is None else first
    query = select(PlannedTest.id).join(Run, Run.id == PlannedTest.run_id)
    since = (Run.id >= first, Run.id < audit.id, Run.device == audit.device, Run.trigger != Trigger.AUDIT)
    broken = (PlannedTest.test_id == test_id, PlannedTest.verdict.in_(sorted(BREAKING)), ~PlannedTest.by_lot)
    return session.scalar(query.where(*since, *broken, Run.trigger != Trigger.CONFIRM).limit(1)) is not None


def confirmations(session: Session, audit_id: int, test_id: str) -> list[Run]:
    """The runs that asked whether a change broke the test, in the order they were asked."""
    asked = Run.identity.startswith(_question(audit_id, test_id), autoescape=True)
    # They come after the audit, which spares the database a look through all runs.
    since = (Run.trigger == Trigger.CONFIRM, Run.id > audit_id)
    return list(session.scalars(select(Run).where(*since, asked).order_by(Run.id)))


def missed_by(
    session: Session, audit: Run, test_id: str, *, first: int | None = None, asked: Sequence[Run] | None = None
) -> int | None:
    """The run whose selection left the test out although its change broke it: it drew the test by lot and saw that, or
    was asked afterwards. None as long as none is known. `first` is the audit's `first_push` and `asked` the test's
    `confirmations`, for who has them."""
    first = first_push(session, audit) if first is None else first
    drawn = select(PlannedTest.run_id).join(Run, Run.id == PlannedTest.run_id)
    since = (Run.id >= first, Run.id < audit.id, Run.device == audit.device)
    by_lot = drawn.where(*since, PlannedTest.test_id == test_id, PlannedTest.missed).order_by(Run.id).limit(1)
    seen = session.scalar(by_lot)
    if seen is not None:
        return seen
    for run in confirmations(session, audit.id, test_id) if asked is None else asked:
        if run.state is RunState.FINISHED and any(it.test_id == test_id for it in newly_broken(session, run.id)):
            return run.rerun_of
    return None


def _next_suspect(session: Session, audit: Run, test: PlannedTest, asked: Sequence[Run]) -> Run | None:
    """The change most likely to have broken the test, by the estimate of the plan that left it out, then the oldest."""
    if len(asked) >= MOST_CONFIRMED:
        return None
    known = {run.rerun_of for run in asked}
    ran = select(PlannedTest.id).where(PlannedTest.run_id == Run.id, PlannedTest.test_id == test.test_id)
    trusted = (_is_push(audit.device), Run.state == RunState.FINISHED, Run.full == "", ~ran.exists())
    since = (Run.id >= first_push(session, audit), Run.id < audit.id)
    suspects = [run for run in session.scalars(select(Run).where(*trusted, *since)) if run.id not in known]
    return min(suspects, key=lambda run: (-_estimate(session, run.id, test.base), run.id), default=None)


def _estimate(session: Session, run_id: int, base: str) -> float:
    """The probability at which a plan left a test out; 0 for one that it never considered."""
    decisions = session.scalar(select(Selection.decisions).where(Selection.run_id == run_id)) or ()
    return max((entry.get("probability", 0.0) for entry in decisions if entry["test"] == base), default=0.0)


def _confirmation(audit: Run, suspect: Run, test_id: str) -> NewRun:
    return NewRun(
        identity=f"{_question(audit.id, test_id)}{suspect.id}",
        repo=suspect.repo,
        kind=suspect.kind,
        base_sha=suspect.base_sha,
        head_sha=suspect.head_sha,
        device=suspect.device,
        trigger=Trigger.CONFIRM,
        title=suspect.title,
        body=suspect.body,
        base_ref=suspect.base_ref,
        fetch_ref=suspect.fetch_ref,
        rerun_of=suspect.id,
        only=(test_id,),
    )


def _settle(session: Session, audit: Run, now: datetime) -> None:
    broken = newly_broken(session, audit.id)
    missed = 0
    for test in broken:
        culprit = missed_by(session, audit, test.test_id)
        if culprit is not None:
            missed += 1
            culprit_run = session.get_one(Run, culprit)
            kept = remember_miss(session, culprit_run, test.base, f"audit {audit.id} found it broken", now)
            note(session, audit.id, now, MISSED, f"The selection of run {culprit} missed {test.test_id}. {kept}")
    text = f"{len(broken)} newly broken since the audit before, {missed} of them missed by a selection."
    note(session, audit.id, now, SETTLED, text)


def first_push(session: Session, audit: Run) -> int:
    """The id of the first run that an audit judges: that of the push which began where the audit's base is."""
    began = select(func.min(Run.id)).where(_is_push(audit.device), Run.base_sha == audit.base_sha, Run.id < audit.id)
    before = select(func.max(Run.id)).where(
        Run.trigger == Trigger.AUDIT, Run.device == audit.device, Run.head_sha == audit.base_sha, Run.id < audit.id
    )
    return session.scalar(began) or session.scalar(before) or 0


def _is_push(device: str) -> ColumnElement[bool]:
    return (Run.trigger == Trigger.WEBHOOK) & Run.pr_number.is_(None) & (Run.device == device)


def _question(audit_id: int, test_id: str) -> str:
    return f"confirm:{audit_id}:{hashlib.sha256(test_id.encode()).hexdigest()[:32]}:"


def is_broken(test: PlannedTest) -> bool:
    """Whether the change broke a test that passed without it. Its attempts are loaded."""
    tries = [
        Attempt(tree=it.tree, number=it.number, observation=it.observation, duration_s=it.duration_s)
        for it in test.attempts
    ]
    return is_newly_broken(test.expected, test.verdict, tries)
