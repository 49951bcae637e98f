"""The page of all backends: by level, how often their jobs pass, and who is ready for another level (5.1).

What a backend reports is no part of a run's history and makes no event: an open page asks for it once a minute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.allowlist.types import Backend, Level, repo_key
from relay.context import Context, RelayContext
from relay.hud.counting import is_probe
from relay.hud.overview import BackendLine
from relay.web import backend_words as words
from relay.web.backend_reading import Overview, Registered, Row, read_overview
from relay.web.live.access import Reads
from relay.web.pages.backend_metrics import METRICS
from relay.web.pages.backend_parts import PATH, Card, View, probe_cards
from relay.web.pages.shell import PAGES
from relay.web.pages.switches import address, github
from relay.web.wording import Word
from relay.web.wording import number as grouped

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Shown:
    """A line of the list. `href` is empty while there is nothing to open; `badges` are what else is to be known."""

    repo: str
    href: str
    figures: Row | None
    word: Word
    last: datetime | None
    badges: tuple[Word, ...]


@router.get(PATH)
def backends_page(context: Context, reads: Reads, event: str = "", days: str = "") -> HTMLResponse:
    """Every registered backend and every other that reports, by level."""
    view, registered = View.read(event, days), Registered.of(context)
    overview, health = reads.recent((PATH, view), lambda: _read(context, registered, view))
    levels = [
        (level, words.LEVEL_MEANINGS[level], [_shown(line, view, overview) for line in lines])
        for level, lines in overview.lines.items()
        if lines
    ]
    return PAGES.render(
        "backends.html",
        context,
        nav="backends",
        view=view,
        tabs=view.tabs(PATH),
        ranges=view.ranges(PATH),
        metrics=address(METRICS, {"event": view.given["event"]}),
        registered=registered,
        cards=(*health, *_cards(registered.allowlist.backends, overview.rows)),
        levels=levels,
        words=words,
        github=github,
    )


def _read(context: RelayContext, registered: Registered, view: View) -> tuple[Overview, tuple[Card, ...]]:
    with context.store.reading() as session:
        overview = read_overview(session, context, registered, view.tab, view.days)
        return overview, probe_cards(session, context.now())


def _cards(backends: Sequence[Backend], rows: Sequence[Row]) -> tuple[Card, ...]:
    """Sums over all backends but the probe, some of whose jobs are meant to fail."""
    listed = [backend for backend in backends if not is_probe(backend.key)]
    counts = [(level, sum(backend.level is level for backend in listed)) for level in sorted(Level, reverse=True)]
    others = [row for row in rows if not is_probe(repo_key(row["repo"]))]
    sums = {name: sum(row[name] for row in others) for name in ("successes", "failures", "timed_out", "total")}
    by_level = ", ".join(f"{count} at {level.name}" for level, count in counts if count)
    cards = (
        Card("Registered backends", grouped(len(listed)), by_level),
        Card("Jobs that passed", words.counted_rate(sums["successes"], sums["total"])),
        Card("Failures", grouped(sums["failures"]), f"and {grouped(sums['timed_out'])} timed out"),
    )
    return (*cards, *(_probe_jobs(row) for row in rows if is_probe(repo_key(row["repo"]))))


def _probe_jobs(row: Row) -> Card:
    note = f"{grouped(row['failures'])} not as meant, {grouped(row['timed_out'])} timed out"
    return Card("Jobs of the probe", grouped(row["total"]), note)


def _shown(line: BackendLine, view: View, overview: Overview) -> Shown:
    key, figures = repo_key(line.repo), line.figures
    badges = [words.UNLISTED] if not line.listed else []
    badges += [words.STALE] if figures and figures.get("stale") else []
    badges += [words.PROPOSED] if key in overview.demoted else []
    badges += [words.readiness(overview.standings[key])] if key in overview.standings else []
    return Shown(
        repo=line.repo,
        href=address(f"{PATH}/{line.repo}", view.given) if figures else "",
        figures=figures,
        word=words.overview_rate(figures["pass_rate"]) if figures else words.SILENT,
        last=datetime.fromisoformat(figures["last_run"]) if figures else None,
        badges=tuple(badges),
    )
