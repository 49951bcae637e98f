"""The trunk over HTTP: its commits, and how our runs and the jobs of backends went on each. Reads only."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.context import Context, RelayContext
from relay.hud.commit_jobs import jobs_on
from relay.runs.trunk import pushed_commits, results_on
from relay.trunk_views import TrunkCommit, TrunkPage
from relay.web.paging import Before, Paged

router = APIRouter(prefix="/api/v1", tags=["read"])

#: Commits in one answer.
MOST_COMMITS = 500


@router.get("/trunk", summary="Commits of the branch, and how each did")
def trunk(
    context: Context,
    paging: Paged,
    limit: Annotated[int, Query(ge=1, le=MOST_COMMITS, description="How many commits")] = 50,
    before: Before = None,
) -> TrunkPage:
    """Commits of the branch, newest push first, each with the newest answer of every job that ran on it."""
    page = load_trunk(context, limit=limit, before=paging.number(before))
    return paging.linked(page, page.next_before)


def load_trunk(context: RelayContext, *, limit: int, before: int | None) -> TrunkPage:
    """A window of the trunk, for the API and for the page. Four queries."""
    settings = context.settings
    with context.store.reading() as session:
        pushed, next_before = pushed_commits(session, settings.upstream_repo, limit=limit, before=before)
        shas = [commit.sha for commit in pushed]
        ours = results_on(session, settings.upstream_repo, shas, settings.public_url)
        backends = jobs_on(session, shas)
    commits = tuple(
        TrunkCommit(
            key=commit.key,
            sha=commit.sha,
            title=commit.title,
            at=commit.at,
            results=(*ours.get(commit.sha, ()), *backends.get(commit.sha, ())),
        )
        for commit in pushed
    )
    return TrunkPage(commits=commits, next_before=next_before)
