"""The page *Quality*: how many broken tests the selections missed, and how much they saved."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context
from relay.runs.quality import quality
from relay.web import quality_words as words
from relay.web.pages.shell import PAGES, number

#: Spans to look back over, in days; the second is what an address that asks for none gets.
SPANS = (30, 90, 365)
_USUAL = SPANS[1]

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/quality")
def quality_page(context: Context, days: str = "", device: str = "") -> HTMLResponse:
    """Figures, charts, and the tables behind them."""
    asked, usual = number(days), context.devices[0]
    span = asked if asked in SPANS else _USUAL
    chosen = device if device in context.devices else usual
    with context.store.reading() as session:
        view = quality(session, chosen, context.now(), days=span)

    def address(days: int, on: str) -> str:
        given = {"days": days if days != _USUAL else "", "device": on if on != usual else ""}
        query = urlencode({key: value for key, value in given.items() if value})
        return f"/quality{'?' if query else ''}{query}"

    word, headline = words.headline(view)
    return PAGES.render(
        "quality.html",
        context,
        nav="quality",
        view=view,
        word=word,
        headline=headline,
        facts=words.facts(view),
        recall=words.recall_chart(view),
        reduction=words.reduction_chart(view),
        saving=words.saving_chart(view),
        share=words.share,
        percent=words.percent,
        spans=[(one, address(one, chosen)) for one in SPANS],
        devices=[(one, address(span, one)) for one in context.devices],
    )
