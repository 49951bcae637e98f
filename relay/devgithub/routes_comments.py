"""Routes of comments on pull requests, and of what a user may in a repository."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from relay.devgithub import comments
from relay.devgithub.access import Caller, CallerOf, RepositoryOf, State
from relay.devgithub.bodies import Json
from relay.devgithub.comment_bodies import comment, permission
from relay.devgithub.paging import PageNumber, PageSize, page_of
from relay.devgithub.records import App, RefusedError, Repository

router = APIRouter(prefix="/repos/{owner}/{repo}")
Fields = Annotated[dict[str, Any], Body()]


@router.get("/issues/{number}/comments")
def list_comments(
    number: int,
    repository: RepositoryOf,
    caller: CallerOf,
    state: State,
    *,
    request: Request,
    response: Response,
    since: datetime | None = None,
    page: PageNumber = 1,
    per_page: PageSize = 30,
) -> list[Json]:
    """The comments on a pull request, the oldest first."""
    caller.check(repository, "issues")
    shown = page_of(comments.comments_on(repository, number, since), page, per_page, request, response)
    return [comment(state, repository, each) for each in shown]


@router.post("/issues/{number}/comments", status_code=201)
def create(number: int, repository: RepositoryOf, caller: CallerOf, state: State, fields: Fields) -> Json:
    """A new comment."""
    made = comments.write(state, repository, _writer(caller, repository), number, fields.get("body"))
    return comment(state, repository, made)


@router.get("/issues/comments/{comment_id}")
def get(comment_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """A comment."""
    caller.check(repository, "issues")
    return comment(state, repository, comments.find_comment(repository, comment_id))


@router.patch("/issues/comments/{comment_id}")
def update(comment_id: int, repository: RepositoryOf, caller: CallerOf, state: State, fields: Fields) -> Json:
    """A comment, with another text."""
    edited = comments.edit(state, repository, _writer(caller, repository), comment_id, fields.get("body"))
    return comment(state, repository, edited)


@router.get("/collaborators/{username}/permission")
def get_permission(username: str, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """What a user may."""
    caller.check(repository, "metadata")
    if not caller.name:
        raise RefusedError(401, "Requires authentication")
    role = comments.role_of(repository, username)
    return permission(state, username, role, comments.PERMISSIONS.get(role, "none"))


def _writer(caller: Caller, repository: Repository) -> App:
    caller.check(repository, "issues", "write")
    if caller.app is None:
        raise RefusedError(401, "Requires authentication")
    return caller.app
