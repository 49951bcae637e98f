"""A change over HTTP, by pull request or by commit: what it broke and why in one call. Part of the read API; what it
answers is made in `relay.runs.change_listing`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query

from relay.change_views import ChangeView
from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.runs.change_listing import change_view
from relay.runs.changes import SHORTEST_SHA, Change, change_of_commit, change_of_pull
from relay.runs.device_verdicts import on_devices
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


Device = Annotated[
    str, Query(max_length=100, description="The tests on this device; on the first that was tested if left out")
]


@router.get("/pulls/{number}", summary="What a pull request breaks, and why")
def pull(
    context: Context, number: PullNumber, repo: Repo = "", device: Device = "", limit: PerGroup = 50
) -> ChangeView:
    """Its newest commit's tests, grouped by what they say about the change, with their last words and attempts; and
    what it has come to on every device."""
    usually = context.settings.upstream_repo
    with context.store.reading() as session:

        def find(on: str) -> Change | None:
            return change_of_pull(session, number, on, repo=storable(repo), usually=usually)

        on = _tested_on(context, find, device, f"pull request {number}")
        return change_view(session, on[device or next(iter(on))], context.settings.public_url, limit=limit, on=on)


@router.get("/commits/{sha}", summary="What a commit breaks, and why")
def commit(context: Context, sha: CommitName, device: Device = "", limit: PerGroup = 50) -> ChangeView:
    """The same of one commit, pushed or of a pull request."""
    with context.store.reading() as session:

        def find(on: str) -> Change | None:
            return change_of_commit(session, sha, on)

        on = _tested_on(context, find, device, f"commit {sha}")
        return change_view(session, on[device or next(iter(on))], context.settings.public_url, limit=limit, on=on)


def _tested_on(
    context: RelayContext, find: Callable[[str], Change | None], device: str, what: str
) -> dict[str, Change]:
    """The change as each device has it; the one that is asked for is among them. Raises NotFoundError."""
    on = on_devices(context.devices, find)
    if not on or (device and device not in on):
        raise NotFoundError(f"No run of {what} is on record{f' on {device}' if device and on else ''}.", _HINT)
    return on
