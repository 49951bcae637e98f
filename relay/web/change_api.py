"""A change over HTTP, by pull request or by commit: what it broke and why in one call. Part of the read API; what it
answers is made in `relay.runs.change_listing`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from relay.change_views import ChangeView
from relay.context import Context
from relay.errors import NotFoundError
from relay.runs.change_listing import change_view
from relay.runs.changes import SHORTEST_SHA, change_of_commit, change_of_pull
from relay.web.history_api import storable
from relay.web.paging import LARGEST

router = APIRouter(prefix="/api/v1", tags=["read"])

_HINT = "GET /api/v1/runs shows the runs there are."

PullNumber = Annotated[int, Path(ge=1, le=LARGEST, description="A pull request's number")]
CommitName = Annotated[
    str,
    Path(pattern=rf"^[0-9a-f]{{{SHORTEST_SHA},40}}$", description="A commit's name, or the begin of it"),
]
PerGroup = Annotated[int, Query(ge=0, le=200, description="At most this many tests of each group")]
Repo = Annotated[str, Query(max_length=200, description="`owner/name`; the relay's upstream if left out")]


@router.get("/pulls/{number}", summary="What a pull request breaks, and why")
def pull(context: Context, number: PullNumber, repo: Repo = "", limit: PerGroup = 50) -> ChangeView:
    """Its newest commit's tests, grouped by what they say about the change, with their last words and attempts."""
    settings = context.settings
    with context.store.reading() as session:
        found = change_of_pull(session, number, settings.device, repo=storable(repo), usually=settings.upstream_repo)
        if found is None:
            raise NotFoundError(f"No run of pull request {number} is on record.", _HINT)
        return change_view(session, found, settings.public_url, limit=limit)


@router.get("/commits/{sha}", summary="What a commit breaks, and why")
def commit(context: Context, sha: CommitName, limit: PerGroup = 50) -> ChangeView:
    """The same of one commit, pushed or of a pull request."""
    settings = context.settings
    with context.store.reading() as session:
        found = change_of_commit(session, sha, settings.device)
        if found is None:
            raise NotFoundError(f"No run of commit {sha} is on record.", _HINT)
        return change_view(session, found, settings.public_url, limit=limit)
