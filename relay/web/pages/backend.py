"""The page of one backend: its figures, whether it may change its level, and the matrix of its jobs (5.2, 5.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from relay.allowlist.types import repo_key
from relay.context import Context, RelayContext
from relay.hud.backend_pages import backend_dashboard, nightly_dashboard
from relay.hud.counting import is_probe
from relay.hud.daily import daily_counts
from relay.hud.figures import backend_summary
from relay.hud.freshness import Cadences
from relay.hud.matrix import asked_for, pull_request_matrix, scheduled_matrix
from relay.hud.percentiles import Percentiles, job_percentiles
from relay.hud.scheduled import ScheduledFigures, scheduled_figures
from relay.runs.titles import known_titles
from relay.store.crcr_models import Demotion
from relay.web import backend_words as words
from relay.web.backend_days import day_charts
from relay.web.backend_reading import Registered, Subject, find_subject, read_standing
from relay.web.live.access import Reads
from relay.web.pages import matrix_view
from relay.web.pages.backend_parts import PATH, Card, View, joined, probe_cards
from relay.web.pages.shell import PAGES, number
from relay.web.pages.switches import github
from relay.web.wording import Word, duration
from relay.web.wording import number as grouped

#: Characters of a cell's key.
_KEY_CAP = 64

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address asks of the matrix: a page, counted from 1, a cell by its key, a pull request's history."""

    page: int
    job: str
    older: int | None

    def place(self, path: str, view: View) -> matrix_view.Place:
        """Where the matrix stands."""
        return matrix_view.Place(path, view.given, self.job, self.older, self.page)


def _repo(owner: str, name: str) -> str:
    return f"{owner}/{name}"


def _view(event: str = "", days: str = "") -> View:
    return View.read(event, days)


def _wanted(page: str = "", job: str = "", older: str = "") -> Wanted:
    return Wanted(number(page) or 1, job[:_KEY_CAP], number(older))


@router.get(PATH + "/{owner}/{name}")
def backend_page(
    context: Context,
    reads: Reads,
    repo: Annotated[str, Depends(_repo)],
    view: Annotated[View, Depends(_view)],
    wanted: Annotated[Wanted, Depends(_wanted)],
) -> HTMLResponse:
    """One backend that is registered or reported something."""
    registered = Registered.of(context)
    subject, values = reads.recent((PATH, repo, view, wanted), lambda: _read(context, registered, repo, view, wanted))
    if subject is None:
        return _unknown(context, repo)
    path = f"{PATH}/{subject.repo}"
    return PAGES.render(
        "backend.html",
        context,
        nav="backends",
        view=view,
        subject=subject,
        tabs=view.tabs(path),
        ranges=view.ranges(path),
        registered=registered,
        words=words,
        github=github,
        **values,
    )


def _read(
    context: RelayContext, registered: Registered, repo: str, view: View, wanted: Wanted
) -> tuple[Subject | None, dict[str, Any]]:
    with context.store.reading() as session:
        subject = find_subject(session, registered, repo)
        if subject is None:
            return None, {}
        place = wanted.place(f"{PATH}/{subject.repo}", view)
        return subject, _values(session, context, subject, view, place)


def _unknown(context: RelayContext, repo: str) -> HTMLResponse:
    return PAGES.render(
        "error.html",
        context,
        status=404,
        nav="backends",
        heading=f"There is no backend {repo[:200]}.",
        advice="It is not in the allowlist, and it never reported anything.",
    )


def _values(
    session: Session, context: RelayContext, subject: Subject, view: View, place: matrix_view.Place
) -> dict[str, Any]:
    now, repo = context.now(), subject.repo
    spread = job_percentiles(session, repo=repo, tab=view.tab, days=view.days, now=now)
    health = probe_cards(session, now) if is_probe(repo_key(repo)) else ()
    stale = False
    if view.tab.scheduled:
        figures = scheduled_figures(session, repo=repo, tab=view.tab, days=view.days, now=now)
        cadences = Cadences.read(context.settings.crcr_cadences)
        stale = figures.last is not None and cadences.is_stale(repo, view.tab.value, figures.last, now)
        cards = _scheduled_cards(figures, spread)
    else:
        (summary,) = backend_summary(session, repo=repo, days=view.days, now=now)
        cards = _pull_request_cards(summary, spread)
    demotion = session.get(Demotion, repo_key(repo))
    return {
        "matrix": _matrix(session, context, subject, view, place),
        "cards": (*health, *cards),
        "course": day_charts(daily_counts(session, repo=repo, tab=view.tab, days=view.days, now=now)),
        "standing": read_standing(session, subject, now),
        "badges": _badges(subject, stale=stale, demoted=demotion is not None),
        "demotion": demotion.pr_number if demotion else None,
    }


def _matrix(
    session: Session, context: RelayContext, subject: Subject, view: View, place: matrix_view.Place
) -> matrix_view.ShownMatrix:
    asked: dict[str, Any] = {"repo": subject.repo, "days": view.days, "now": context.now(), **asked_for(place.page)}
    if view.tab.scheduled:
        rows = nightly_dashboard(session, event_type=view.tab.value, **asked)
        return matrix_view.shown(scheduled_matrix(rows, page=place.page), place, {})
    matrix = pull_request_matrix(backend_dashboard(session, **asked), page=place.page)
    titles = known_titles(session, context.settings.upstream_repo, [line.pr_number for line in matrix.lines])
    return matrix_view.shown(matrix, place, titles)


def _badges(subject: Subject, *, stale: bool, demoted: bool) -> Sequence[Word]:
    found = ((words.UNLISTED, subject.entry is None), (words.STALE, stale), (words.PROPOSED, demoted))
    return [word for word, holds in found if holds]


def _pull_request_cards(row: dict[str, Any], spread: Percentiles) -> tuple[Card, ...]:
    total = row["total_jobs"]
    longest = f"longest {duration(row['max_exec_time_s'])}" if row["max_exec_time_s"] is not None else ""
    return (
        _pass_rate(row["successes"], total),
        Card("Pull requests", grouped(row["total_prs"]), f"{grouped(total)} finished jobs"),
        Card("Failures", grouped(row["failures"]), f"and {grouped(row['timed_out'])} timed out"),
        _wait(spread, row["avg_queue_time_s"]),
        _execution(spread, row["avg_exec_time_s"], longest),
        _end_to_end(row),
        _excess("Timeouts", row["timeout_rate"], words.counted_rate(row["timed_out"], total), total),
        _excess("Overruns", row["overrun_rate"], words.share(row["overrun_rate"], total), total, "longer than 3 h"),
    )


def _scheduled_cards(found: ScheduledFigures, spread: Percentiles) -> tuple[Card, ...]:
    return (
        _pass_rate(found.successes, found.total),
        Card("Commits", grouped(found.commits), f"{grouped(found.total)} finished jobs"),
        Card("Failures", grouped(found.failures), f"and {grouped(found.timed_out)} timed out"),
        _wait(spread),
        _execution(spread),
    )


def _pass_rate(successes: int, total: int) -> Card:
    word = words.card_rate(successes / total) if total else words.SILENT
    return Card("Pass rate", words.counted_rate(successes, total), "", word)


def _wait(spread: Percentiles, average_s: float | None = None) -> Card:
    queue = spread.queue
    return Card("Wait in the queue", words.spread(queue.p50_s, queue.p95_s), _note(average_s, queue.jobs))


def _execution(spread: Percentiles, average_s: float | None = None, more: str = "") -> Card:
    ran = spread.execution
    return Card("Execution", words.spread(ran.p50_s, ran.p95_s), joined((_note(average_s, ran.jobs), more)))


def _note(average_s: float | None, jobs: int) -> str:
    average = f"average {duration(average_s)}" if average_s is not None else ""
    return joined((average, f"{grouped(jobs)} jobs told" if jobs else ""))


def _end_to_end(row: dict[str, Any]) -> Card:
    told = words.spread(row["median_e2e_time_s"], row["p95_e2e_time_s"])
    return Card("From wait to end, whole runs", told, "target: P50 below 3 h")


def _excess(label: str, rate: float, value: str, total: int, note: str = "") -> Card:
    return Card(label, value, note, words.excess(rate) if total else None)
