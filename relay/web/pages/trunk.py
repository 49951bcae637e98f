"""The page *Trunk*: what was pushed to the branch, and how every job went on each commit, newest first.

A window of commits at a time: the newest, or those before a key.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context
from relay.web.pages.shell import PAGES, choice, number
from relay.web.trunk_api import load_trunk
from relay.web.trunk_grid import Grouping, grid
from relay.web.trunk_words import nothing_pushed

#: Commits in a window; the first is what an address that asks for no size gets.
SIZES = (50, 200, 500)

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/trunk")
def trunk_page(context: Context, group: str = "", rows: str = "", before: str = "") -> HTMLResponse:
    """Commits and jobs as a grid."""
    grouping = choice(Grouping, group) or Grouping.DEVICE
    asked, older = number(rows), number(before)
    size = asked if asked in SIZES else SIZES[0]
    page = load_trunk(context, limit=size, before=older)
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
        newest_page=_address(grouping, size, None) if older else "",
        nothing=nothing_pushed(context.settings.upstream_repo, older is not None),
    )


def _address(grouping: Grouping, size: int, before: int | None) -> str:
    given: dict[str, str | int] = {}
    if grouping is not Grouping.DEVICE:
        given["group"] = grouping.value
    if size != SIZES[0]:
        given["rows"] = size
    if before is not None:
        given["before"] = before
    return f"/trunk{'?' if given else ''}{urlencode(given)}"
