"""Routes that GitHub has not: they play the people and the machines that a relay hears of.

`relay devgithub ...` calls them, and so may anything that can speak HTTP. Each tells how the events that followed were
received.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from relay.devgithub import checks, comments, pulls, workflow_runs
from relay.devgithub.access import State
from relay.devgithub.bodies import Json, moment
from relay.devgithub.check_bodies import check_run, workflow_run
from relay.devgithub.comment_bodies import comment
from relay.devgithub.pull_bodies import simple_pull
from relay.devgithub.records import MAINTAINER, Delivery, RefusedError, Repository
from relay.devgithub.state import DevGitHub

router = APIRouter(prefix="/_dev")
Revision = Annotated[str, Field(min_length=1, max_length=300)]


class NewPull(BaseModel):
    """A pull request to be opened. `head` and `base` are revisions of the repository."""

    head: Revision
    base: str = ""
    title: str = ""
    body: str = ""
    author: str = "contributor"
    labels: tuple[str, ...] = ()
    draft: bool = False


class Deed(BaseModel):
    """What is done to a pull request; `value` is the new head, the label or the title."""

    deed: Literal["synchronize", "label", "unlabel", "edit", "close", "merge", "reopen"]
    value: str = ""


class NewComment(BaseModel):
    """What somebody says on a pull request. `permission` is what they may from now on, unchanged when it is empty."""

    body: Annotated[str, Field(min_length=1)]
    author: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,39}$")] = MAINTAINER
    permission: Literal["", "admin", "maintain", "write", "triage", "read"] = ""


class NewPush(BaseModel):
    """A ref that moves."""

    ref: Annotated[str, Field(pattern="^refs/")]
    before: Revision
    after: Revision


class RunState(BaseModel):
    """What became of a workflow run."""

    status: Literal["queued", "in_progress", "completed"]
    conclusion: str | None = None


@router.get("/state")
def overview(state: State) -> Json:
    """Everything there is, for people and for programs that wait for something."""
    return {
        "repositories": [each.full_name for each in state.repositories.values()],
        "pulls": _by_repository(state, lambda each: [simple_pull(state, each, pull) for pull in each.pulls.values()]),
        "comments": _by_repository(state, lambda each: [comment(state, each, c) for c in each.comments.values()]),
        "check_runs": _by_repository(state, lambda each: [check_run(state, each, c) for c in each.checks.values()]),
        "workflow_runs": _by_repository(state, lambda each: [workflow_run(state, each, r) for r in each.runs.values()]),
        "dispatches": [
            {
                "repository": each.repo,
                "event_type": each.event_type,
                "client_payload": each.client_payload,
                "at": moment(each.at),
                "run_id": each.run_id,
            }
            for each in state.dispatches
        ],
        "deliveries": _told(state.hooks.deliveries),
    }


@router.post("/repos/{owner}/{repo}/pulls", status_code=201)
def open_pull(owner: str, repo: str, wanted: NewPull, state: State) -> Json:
    """Open a pull request."""
    pull, deliveries = pulls.open_pull(state, f"{owner}/{repo}", **wanted.model_dump())
    return {"number": pull.number, "head_sha": pull.head_sha, "deliveries": _told(deliveries)}


@router.post("/repos/{owner}/{repo}/pulls/{number}")
def change_pull(owner: str, repo: str, number: int, wanted: Deed, state: State) -> Json:
    """Do something to a pull request."""
    deliveries = _do(state, f"{owner}/{repo}", number, wanted)
    _, pull = pulls.find_pull(state, f"{owner}/{repo}", number)
    return {"number": number, "head_sha": pull.head_sha, "state": pull.state, "deliveries": _told(deliveries)}


@router.post("/repos/{owner}/{repo}/pulls/{number}/comments", status_code=201)
def write_comment(owner: str, repo: str, number: int, wanted: NewComment, state: State) -> Json:
    """Say something on a pull request."""
    name = f"{owner}/{repo}"
    if wanted.permission:
        comments.permit(state, name, wanted.author, wanted.permission)
    made, deliveries = comments.say(state, name, number, wanted.body, author=wanted.author)
    return {"id": made.id, "deliveries": _told(deliveries)}


@router.get("/repos/{owner}/{repo}/pulls/{number}/comments")
def read_comments(owner: str, repo: str, number: int, state: State) -> Json:
    """Everything that was said on a pull request, the oldest first."""
    repository = state.repository(f"{owner}/{repo}")
    said = comments.comments_on(repository, number, None)
    return {"comments": [comment(state, repository, each) for each in said]}


@router.post("/repos/{owner}/{repo}/pushes")
def push(owner: str, repo: str, wanted: NewPush, state: State) -> Json:
    """Move a ref."""
    return {"deliveries": _told(pulls.push(state, f"{owner}/{repo}", **wanted.model_dump()))}


@router.post("/repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest")
def rerequest_check_run(owner: str, repo: str, check_run_id: int, state: State) -> Json:
    """Press "Re-run" at a check run."""
    return {"deliveries": _told(checks.rerequest_check_run(state, f"{owner}/{repo}", check_run_id))}


@router.post("/repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest")
def rerequest_suite(owner: str, repo: str, check_suite_id: int, state: State) -> Json:
    """Press "Re-run all checks"."""
    return {"deliveries": _told(checks.rerequest_suite(state, f"{owner}/{repo}", check_suite_id))}


@router.post("/repos/{owner}/{repo}/runs/{run_id}")
def move_run(owner: str, repo: str, run_id: int, wanted: RunState, state: State) -> Json:
    """Play the backend whose run this is."""
    name = f"{owner}/{repo}"
    run = workflow_runs.move_run(state, name, run_id, wanted.status, wanted.conclusion)
    return workflow_run(state, state.repository(name), run)


def _do(state: DevGitHub, repo: str, number: int, wanted: Deed) -> list[Delivery]:
    if wanted.deed in ("synchronize", "label", "unlabel", "edit") and not wanted.value:
        raise RefusedError(422, f"{wanted.deed} needs a value")
    if wanted.deed == "synchronize":
        return pulls.synchronize_pull(state, repo, number, wanted.value)
    if wanted.deed in ("label", "unlabel"):
        return pulls.label_pull(state, repo, number, wanted.value, remove=wanted.deed == "unlabel")
    if wanted.deed == "edit":
        return pulls.edit_pull(state, repo, number, wanted.value)
    if wanted.deed == "reopen":
        return pulls.reopen_pull(state, repo, number)
    return pulls.close_pull(state, repo, number, merged=wanted.deed == "merge")


def _by_repository(state: DevGitHub, bodies: Callable[[Repository], list[Json]]) -> dict[str, list[Json]]:
    return {each.full_name: bodies(each) for each in list(state.repositories.values())}


def _told(deliveries: Iterable[Delivery]) -> list[Json]:
    return [
        {
            "guid": each.guid,
            "event": each.event,
            "action": each.action,
            "status_code": each.status_code,
            "status": each.status,
            "answer": each.response_body,
        }
        for each in deliveries
    ]
