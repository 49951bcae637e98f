"""Carries a command out, in the caller's transaction, as the operator action it is, and says what came of it.

Knows no GitHub: what it has to know of a pull request is handed in. Wakes nobody: commit first, then wake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.access import run_actions
from relay.access.actions import record_action
from relay.comments import comment_words as words
from relay.comments import finding, reasons
from relay.comments.asked import Asked
from relay.comments.commands import Command, Verb
from relay.comments.rights import may
from relay.errors import RelayError
from relay.intake.events import PullRequestChanged
from relay.intake.full_wishes import full_wishes
from relay.runs.changes import Answer, Change, Head, answer_of, change_of_pull, current
from relay.runs.creation import RERUN_VERDICTS, NewRun, open_run, supersede
from relay.runs.queries import run_summary
from relay.runs.states import FINAL_RUN_STATES
from relay.store.models import PlannedTest, Run, Trigger

#: The name that stands for every test.
ALL = "all"
FULL_BY_COMMENT = "a comment on the pull request asked for every test"
#: Of what was failed, when single tests were run again since: named one by one in the new run.
_FAILED_CAP = 5_000


class RefusedError(Exception):
    """A command is not carried out; `sentence` says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a command, as Markdown, and the run that it started."""

    text: str
    run_id: int | None = None


def answer(session: Session, asked: Asked, command: Command, place: int) -> Told:
    """Do what the command at this place of the comment asks for."""
    if command.verb is None:
        return Told(words.not_done(command, words.no_such_command(command)))
    if not may(command, asked.permission, is_author=asked.comment.by_author):
        return Told(words.not_done(command, words.may_not(command, asked.comment.login, asked.comment.repo)))
    if command.verb is Verb.HELP:
        return Told(words.told(command, words.commands()))
    try:
        # What is refused half-way leaves nothing behind.
        with session.begin_nested():
            return _DEEDS[command.verb](session, _on_device(asked, command), command, place)
    except RefusedError as refused:
        return Told(words.not_done(command, refused.sentence))
    except RelayError as error:
        return Told(words.not_done(command, words.refused(error.message)))


def pull_number(asked_on: str, number: int, command: Command, upstream: str) -> int:
    """The pull request of upstream's that a command is about.

    Raises:
        RefusedError: none is named where one must be, or one of another repository.
    """
    if command.target is not None:
        if command.target.repo.casefold() != upstream.casefold():
            raise RefusedError(words.foreign_target(command.target, upstream))
        return command.target.number
    if asked_on.casefold() != upstream.casefold():
        raise RefusedError(words.which_pull(command, upstream))
    return number


def _on_device(asked: Asked, command: Command) -> Asked:
    if command.device and command.device not in asked.devices:
        raise RefusedError(words.no_such_device(command.device, asked.devices))
    return asked.on(command.device) if command.device else asked


def _number(asked: Asked, command: Command) -> int:
    return pull_number(asked.comment.repo, asked.comment.number, command, asked.settings.upstream_repo)


def _test(session: Session, asked: Asked, command: Command, place: int) -> Told:
    number = _number(asked, command)
    pull = asked.pulls.get(number)
    head = _head(_change(session, asked, number), pull)
    whole = command.names in ((), (ALL,), (asked.device,))
    full = command.names == (ALL,)
    if head is not None:
        return _again(session, asked, command, head, full=full) if whole else _named(session, asked, command, head)
    if pull is None:
        raise RefusedError(words.pull_unknown(number, asked.settings.upstream_repo))
    if not whole:
        raise RefusedError(words.no_plan_for_head(pull.head_sha))
    if number not in asked.open_pulls:
        raise RefusedError(words.pull_closed(number, asked.settings.upstream_repo))
    return _open(session, asked, command, pull, place)


def _head(change: Change | None, pull: PullRequestChanged | None) -> Head | None:
    """The pull request's present head, if a run of it is on record. Where GitHub tells nothing of it, for example
    because our App is in a backend's repository only, the newest head on record counts."""
    heads = change.heads if change is not None else ()
    return next((it for it in heads if pull is None or it.sha == pull.head_sha), None)


def _again(session: Session, asked: Asked, command: Command, head: Head, *, full: bool) -> Told:
    run = _settled(session, asked, head).run
    reason = FULL_BY_COMMENT if full else ""
    made = run_actions.run_again(session, asked.actor, run.id, asked.now, full=reason, where=asked.where)
    said = words.full_again if full else words.all_again
    return Told(words.done(command, said(asked.run(made.id), asked.run(run.id))), made.id)


def _named(session: Session, asked: Asked, command: Command, head: Head) -> Told:
    run = _settled(session, asked, head).run
    found: dict[str, None] = {}
    for name in command.names:
        meant = finding.planned_tests(session, run.id, name)
        if not meant:
            nearest = finding.nearest_tests(session, run.id, name)
            raise RefusedError(words.not_planned(name, asked.run(run.id), nearest))
        found |= dict.fromkeys(meant)
        if len(found) > finding.MOST:
            raise RefusedError(words.means_too_many(name, finding.MOST))
    made = run_actions.run_again(session, asked.actor, run.id, asked.now, tests=tuple(found), where=asked.where)
    sentence = words.again(asked.run(made.id), asked.run(run.id), words.named_tests(tuple(found)))
    return Told(words.done(command, sentence), made.id)


def _open(session: Session, asked: Asked, command: Command, pull: PullRequestChanged, place: int) -> Told:
    full = FULL_BY_COMMENT if command.names == (ALL,) else full_wishes(asked.settings).why(pull)
    new = NewRun(
        identity=f"comment:{asked.comment.repo.casefold()}:{asked.comment.comment_id}:{place}",
        repo=pull.repo,
        kind="pull_request",
        base_sha=pull.base_sha,
        head_sha=pull.head_sha,
        device=asked.device,
        trigger=Trigger.MANUAL,
        pr_number=pull.number,
        title=pull.title,
        body=pull.body,
        base_ref=pull.base_ref,
        fetch_ref=f"refs/pull/{pull.number}/head",
        full=full,
    )
    run = open_run(session, new, asked.now)
    supersede(session, run, asked.now)
    subject = f"run {run.id}"
    record_action(session, asked.actor, "run.open", asked.now, subject=subject, detail=asked.where, run_id=run.id)
    return Told(words.done(command, words.opened(asked.run(run.id), pull.head_sha, full=bool(full))), run.id)


def _retest(session: Session, asked: Asked, command: Command, _place: int) -> Told:
    whole = _settled(session, asked, _newest_head(session, asked, _number(asked, command)))
    broken = (current(whole), PlannedTest.verdict.in_(sorted(RERUN_VERDICTS)))
    query = select(PlannedTest.test_id).where(*broken).order_by(PlannedTest.id).limit(_FAILED_CAP)
    failed = tuple(session.scalars(query))
    if not failed:
        raise RefusedError(words.nothing_failed(asked.run(whole.run.id)))
    tests = failed if whole.repeats else ()
    made = run_actions.run_again(
        session, asked.actor, whole.run.id, asked.now, failed=not tests, tests=tests, where=asked.where
    )
    what = words.failed_tests(len(failed) if tests else len(made.only))
    return Told(words.done(command, words.again(asked.run(made.id), asked.run(whole.run.id), what)), made.id)


def _cancel(session: Session, asked: Asked, command: Command, _place: int) -> Told:
    number = _number(asked, command)
    under_way = (
        func.lower(Run.repo) == asked.settings.upstream_repo.lower(),
        Run.pr_number == number,
        Run.state.not_in(FINAL_RUN_STATES),
    )
    of_device = (Run.device == command.device,) if command.device else ()
    ids = session.scalars(select(Run.id).where(*under_way, *of_device).order_by(Run.id)).all()
    if not ids:
        raise RefusedError(words.nothing_to_cancel())
    by = f"{asked.comment.login} in a comment"
    for run_id in ids:
        run_actions.call_run_off(session, asked.actor, run_id, asked.now, by=by, where=asked.where)
    return Told(words.done(command, words.cancelled([asked.run(run_id) for run_id in ids])))


def _why(session: Session, asked: Asked, command: Command, _place: int) -> Told:
    whole = answer_of(_newest_head(session, asked, _number(asked, command)))
    link = asked.run(whole.run.id)
    if whole.run.selection_state is None:
        over = whole.run.state in FINAL_RUN_STATES
        raise RefusedError(words.never_selected(link) if over else words.not_selected_yet(link))
    return Told(words.told(command, reasons.why(session, whole, command.names[0], link)))


def _change(session: Session, asked: Asked, number: int) -> Change | None:
    return change_of_pull(session, number, asked.device, repo=asked.settings.upstream_repo)


def _newest_head(session: Session, asked: Asked, number: int) -> Head:
    change = _change(session, asked, number)
    if change is None:
        raise RefusedError(words.nothing_on_record(number, asked.settings.upstream_repo))
    return change.heads[0]


def _settled(session: Session, asked: Asked, head: Head) -> Answer:
    """Where the answer about a commit stands, when all of its runs are over."""
    open_runs = [run for run in head.runs if run.state not in FINAL_RUN_STATES]
    if open_runs:
        summary = run_summary(session, open_runs[0].id, asked.settings.public_url)
        raise RefusedError(words.unfinished(asked.run(summary.id), summary.headline))
    return answer_of(head)


_DEEDS: Mapping[Verb, Callable[[Session, Asked, Command, int], Told]] = {
    Verb.TEST: _test,
    Verb.RETEST: _retest,
    Verb.CANCEL: _cancel,
    Verb.WHY: _why,
}
