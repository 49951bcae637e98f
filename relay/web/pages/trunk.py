"""The page *Trunk*: what was pushed to the branch, and how every job went on each commit, newest first.

A window of commits at a time: the newest, or those before a key. While it is open the newest window follows the events
of all runs; jobs of backends make none, so that it is asked for anew now and then besides.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context, RelayContext
from relay.runs.event_listing import newest_event_id
from relay.trunk_views import TrunkPage
from relay.web.live.access import Reads
from relay.web.pages.shell import PAGES, choice, number
from relay.web.trunk_api import load_trunk
from relay.web.trunk_grid import Grouping, grid
from relay.web.trunk_words import nothing_pushed

#: Commits in a window; the first is what an address that asks for no size gets.
SIZES = (50, 200, 500)

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/trunk")
def trunk_page(context: Context, reads: Reads, group: str = "", rows: str = "", before: str = "") -> HTMLResponse:
    """Commits and jobs as a grid."""
    grouping = choice(Grouping, group) or Grouping.DEVICE
    asked, older = number(rows), number(before)
    size = asked if asked in SIZES else SIZES[0]
    last_event, page = reads.get(("trunk", size, older), lambda: _window(context, size, older))
    return PAGES.render(
        "trunk.html",
        context,
        nav="trunk",
        grid=grid(page.commits, grouping),
        grouping=grouping,
        groupings=list(Grouping),
        size=size,
        sizes=SIZES,
        older=older,
        older_page=_address(grouping, size, page.next_before) if page.next_before else "",
        last_event=last_event,
        newest_page=_address(grouping, size, None) if older else "",
        nothing=nothing_pushed(context.settings.upstream_repo, older is not None),
    )


def _window(context: RelayContext, size: int, older: int | None) -> tuple[int, TrunkPage]:
    with context.store.reading() as session:
        last_event = newest_event_id(session)  # first: what follows is at least as new
    return last_event, load_trunk(context, limit=size, before=older)


def _address(grouping: Grouping, size: int, before: int | None) -> str:
    given: dict[str, str | int] = {}
    if grouping is not Grouping.DEVICE:
        given["group"] = grouping.value
    if size != SIZES[0]:
        given["rows"] = size
    if before is not None:
        given["before"] = before
    return f"/trunk{'?' if given else ''}{urlencode(given)}"
