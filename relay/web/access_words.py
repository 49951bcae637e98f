"""The words of signing in, of what an operator can do with a run, and of the audit log. Words only."""

from __future__ import annotations

from dataclasses import dataclass

from relay.access.principals import Principal
from relay.access.scopes import opens
from relay.access_views import Scope
from relay.runs.creation import RERUN_VERDICTS
from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunSummary
from relay.web.wording import duration, number

_SCOPES = {
    Scope.READ: "may read",
    Scope.OPERATE: "may read, run again and cancel",
    Scope.ADMIN: "may do everything",
    Scope.WORKER: "may only work",
}

_ACTIONS = {
    "run.open": "opened",
    "run.rerun": "ran again",
    "run.cancel": "cancelled",
    "audit.start": "started an audit",
    "dispatch.submit": "submitted a dispatch",
    "outbox.replay": "sent dead letters again",
    "upgrade.publish": "published an upgrade report",
    "upgrade.run": "ran the tests of an upgrade report",
    "token.create": "made a token",
    "token.revoke": "revoked a token",
    "page.sign_in": "signed in",
    "page.sign_out": "signed out",
}

WRONG_TOKEN = "This token is not valid here. It may be mistyped, expired or revoked."  # noqa: S105 - a sentence
NOT_FOR_PAGES = "This is a worker's token. It opens no page; use one that may read or operate."
NO_TOKEN = "Paste a token first."  # noqa: S105 - a sentence
STALE_FORM = "The page was too old to sign in from, or your browser keeps no cookies. Try once more."


def tried_too_often(wait_s: int) -> str:
    """Why a try to sign in is not even looked at."""
    return f"Too many tries to sign in. Try again in {duration(wait_s)}."


@dataclass(frozen=True, slots=True)
class RunAction:
    """Something an operator can do with a run: `question` is asked before it is done by `button`; `command` does the
    same. `path` is where the form goes, `what` its field."""

    key: str
    title: str
    question: str
    button: str
    path: str
    what: str
    command: str


def run_actions(run: RunSummary) -> tuple[RunAction, ...]:
    """What can be done with this run now, the likeliest first."""
    if run.state not in FINAL_RUN_STATES:
        return (_cancel(run),)
    failed = sum(run.verdicts.get(verdict, 0) for verdict in RERUN_VERDICTS)
    again = (_rerun(run), _rerun_full(run))
    return (_rerun_failed(run, failed), *again) if failed else again


def _cancel(run: RunSummary) -> RunAction:
    done = f"{number(run.reported)} of {number(run.planned)} tests have reported. " if run.planned else ""
    return RunAction(
        key="cancel",
        title="Cancel this run",
        question=f"{done}What has been reported stays; nothing more is run.",
        button=f"Yes, cancel run {run.id}",
        path=f"/runs/{run.id}/cancel",
        what="",
        command=f"relay run cancel {run.id}",
    )


def _rerun_failed(run: RunSummary, failed: int) -> RunAction:
    tests = f"{number(failed)} {'test' if failed == 1 else 'tests'} that did not end well"
    return RunAction(
        key="rerun-failed",
        title="Run the failed tests again",
        question=f"A new run of the same change, with the {tests}.",
        button=f"Yes, run {number(failed)} {'test' if failed == 1 else 'tests'} again",
        path=f"/runs/{run.id}/rerun",
        what="failed",
        command=f"relay run rerun {run.id} --failed",
    )


def _rerun(run: RunSummary) -> RunAction:
    return RunAction(
        key="rerun",
        title="Run all of it again",
        question=f"A new run of the same change, selected anew. This one had {number(run.planned)} planned tests.",
        button="Yes, run it again",
        path=f"/runs/{run.id}/rerun",
        what="same",
        command=f"relay run rerun {run.id}",
    )


def _rerun_full(run: RunSummary) -> RunAction:
    return RunAction(
        key="rerun-full",
        title="Run every test",
        question="A new run of the same change, with every test that the manifests list. That can take hours.",
        button="Yes, run every test",
        path=f"/runs/{run.id}/rerun",
        what="full",
        command=f"relay run rerun {run.id} --full",
    )


def action_word(action: str) -> str:
    """What somebody did; a word that this version does not know is shown as it is."""
    return _ACTIONS.get(action, action)


def scope_sentence(principal: Principal) -> str:
    """Who is signed in, and what that is good for."""
    return f"Signed in as {principal.name}, who {_SCOPES[principal.scope]}."


def may_operate(principal: Principal) -> bool:
    """Whether buttons are shown."""
    return opens(principal.scope, Scope.OPERATE)


def may_not_operate(principal: Principal) -> str:
    """Why somebody who is signed in sees no buttons."""
    return f"You are signed in as {principal.name}, who {_SCOPES[principal.scope]}. Operating takes another token:"


#: For the filter of the audit log: every action there is, with its words.
ACTION_WORDS = tuple(_ACTIONS.items())
