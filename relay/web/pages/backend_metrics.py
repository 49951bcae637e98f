"""The page of all backends' charts: how their jobs went day by day, together and one by one (5.3).

Each backend has charts of its own: lines on top of each other would be told apart by colour alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context, RelayContext
from relay.hud.counting import is_probe
from relay.hud.daily import BackendDays, daily_counts_of_all, summed
from relay.hud.tabs import Tab
from relay.web import backend_words as words
from relay.web.backend_days import Days, day_charts, in_all
from relay.web.live.access import Reads
from relay.web.pages.backend_parts import PATH, USUAL_TAB
from relay.web.pages.shell import PAGES, choice, number
from relay.web.pages.switches import Given, address, switches

METRICS = f"{PATH}/metrics"
#: The ranges on offer, in days.
_RANGES = (7, 14, 30, 90)
_USUAL_DAYS = 30
#: Backends on a page, by name.
_SHOWN = 12
_KEY_CAP = 200

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Course:
    """A backend with its charts, None of less than two days. `href` opens its page."""

    key: str
    repo: str
    href: str
    charts: Days | None
    told: str


@router.get(METRICS)
def metrics_page(context: Context, reads: Reads, event: str = "", days: str = "", after: str = "") -> HTMLResponse:
    """Charts of every backend that has finished jobs in the range."""
    tab, asked = choice(Tab, event) or USUAL_TAB, number(days)
    span = asked if asked in _RANGES else _USUAL_DAYS
    key = after.strip()[:_KEY_CAP]
    found = reads.recent((METRICS, tab, span), lambda: _read(context, tab, span))
    given: Given = {"event": "" if tab is USUAL_TAB else tab.value, "days": 0 if span == _USUAL_DAYS else span}
    behind = [one for one in found if one.key > key]
    shown = behind[:_SHOWN]
    together = summed(one for one in found if not is_probe(one.key))
    return PAGES.render(
        "backend_metrics.html",
        context,
        nav="backends",
        tab=tab,
        days=span,
        tabs=switches(METRICS, given, "event", [("" if one is USUAL_TAB else one.value, word) for one, word in _TABS]),
        ranges=switches(METRICS, given, "days", [(0 if n == _USUAL_DAYS else n, f"{n} days") for n in _RANGES]),
        overview=address(PATH, {"event": given["event"]}),
        together=day_charts(together),
        together_told=in_all(together),
        probe=any(is_probe(one.key) for one in found),
        count=len(found),
        courses=[_course(one, given) for one in shown],
        first=address(METRICS, given) if key else "",
        following=address(METRICS, given, {"after": shown[-1].key}) if len(behind) > _SHOWN else "",
        words=words,
    )


_TABS = tuple(words.TAB_WORDS.items())


def _read(context: RelayContext, tab: Tab, days: int) -> tuple[BackendDays, ...]:
    with context.store.reading() as session:
        return daily_counts_of_all(session, tab=tab, days=days, now=context.now())


def _course(one: BackendDays, given: Given) -> Course:
    href = address(f"{PATH}/{one.repo}", {"event": given["event"]})
    return Course(one.key, one.repo, href, day_charts(one.counts), in_all(one.counts))
