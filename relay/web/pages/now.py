"""The page *Now*: what runs and what waits on each device, how long that may take, and who works."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context
from relay.web import now_words as words
from relay.web.live.access import Reads
from relay.web.now_api import DEVICE_CAP, board
from relay.web.pages.shell import PAGES

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/now")
def now_page(context: Context, reads: Reads, device: str = "") -> HTMLResponse:
    """Every device, or one. Follows the events of all runs while it is open."""
    only = device[:DEVICE_CAP].strip()
    shown = board(context, reads, only)
    return PAGES.render(
        "now.html",
        context,
        nav="now",
        board=shown,
        only=only,
        words=words,
        unfinished=any(each.running or each.queued_total for each in shown.devices),
    )
