"""The dashboard's routes: the list of runs and the page of one run, whole without JavaScript.

Each page is filled with a fixed number of queries. Odd values in an address are taken as not given: a person who
edits an address gets a page, not a validation error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.runs.audit_listing import list_audits
from relay.runs.event_listing import newest_event_id
from relay.runs.listings import Considered, list_tests, list_waiting_tests, load_considered
from relay.runs.queries import BY_WEIGHT, FAILURES, last_event_id, list_runs, run_detail
from relay.runs.shard_history import shard_lanes
from relay.runs.states import FINAL_RUN_STATES
from relay.store.models import ShardState
from relay.views import RunDetail, RunPage, RunState, TestPage, TestView, Verdict
from relay.web import log_words, shard_words, wording
from relay.web.funnel_picture import funnel_picture
from relay.web.history_api import storable
from relay.web.live.access import Reads
from relay.web.pages.run_log import LogAsked, log_section
from relay.web.pages.shell import PAGES, Pager, choice, number
from relay.web.run_files import run_files
from relay.web.shard_timeline import LANES_CAP, time_line

_RUNS = 25
_AUDITS = 10
#: Tests of one verdict on the first page of a run, and on a page of that verdict alone.
_GLIMPSE = 50
_TESTS = 100
_LEFT_OUT = 50
_QUERY_CAP = 200
_DEVICE_CAP = 100

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Group:
    """The tests with one verdict. `urgent` ones are shown open; `more` is the address of all of them."""

    name: str
    word: wording.Word
    urgent: bool
    tests: tuple[TestView, ...]
    total: int
    more: str = ""
    page: Pager | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address of a run's page asks for. Pages count from 0."""

    run_id: int
    verdict: Verdict | None
    tests_page: int
    q: str
    left_page: int
    held_page: int
    log: LogAsked

    def address(self, fragment: str, **changes: str | int) -> str:
        """This page with some parameters changed, without those at their usual value."""
        values = self.parameters() | self.log.parameters()
        given = {key: value for key, value in (values | changes).items() if value}
        return f"/runs/{self.run_id}{'?' if given else ''}{urlencode(given)}#{fragment}"

    def parameters(self) -> dict[str, str | int]:
        """What it asks for besides the log."""
        return {
            "verdict": self.verdict or "",
            "tests": self.tests_page,
            "q": self.q,
            "left": self.left_page,
            "held": self.held_page,
        }

    def pager(self, parameter: str, fragment: str, page: int, size: int, total: int) -> Pager:
        """The place of `page` in a list of `total`, and its neighbours."""
        first, end = page * size, min((page + 1) * size, total)
        previous = self.address(fragment, **{parameter: page - 1}) if page else ""
        following = self.address(fragment, **{parameter: page + 1}) if end < total else ""
        return Pager(min(first + 1, total), end, total, previous, following)


def _log_asked(log: str = "", shard: str = "", attempt: str = "", find: str = "") -> LogAsked:
    return LogAsked.of(log, shard, attempt, find)


def _wanted(
    run_id: int,
    asked: Annotated[LogAsked, Depends(_log_asked)],
    *,
    verdict: str = "",
    tests: str = "",
    q: str = "",
    left: str = "",
    held: str = "",
) -> Wanted:
    pages = (number(tests) or 0, number(left) or 0, number(held) or 0)
    return Wanted(run_id, choice(Verdict, verdict), pages[0], q[:_QUERY_CAP].strip(), pages[1], pages[2], asked)


@router.get("/")
def runs_page(
    context: Context, reads: Reads, *, state: str = "", pr: str = "", device: str = "", before: str = ""
) -> HTMLResponse:
    """The list of runs, newest first. The first page of it follows the events of all runs while it is open."""
    chosen, pull, older = choice(RunState, state), number(pr), number(before)
    on = storable(device[:_DEVICE_CAP])

    def read() -> tuple[int, RunPage]:
        with context.store.reading() as session:
            last_event = newest_event_id(session)  # first: the list is at least as new
            url = context.settings.public_url
            return last_event, list_runs(session, url, state=chosen, pr=pull, device=on, limit=_RUNS, before=older)

    last_event, page = reads.get(("runs", chosen, pull, on, older), read)
    given = {"state": chosen, "pr": pull, "device": on, "before": page.next_before}
    query = urlencode({key: value for key, value in given.items() if value})
    return PAGES.render(
        "runs.html",
        context,
        nav="runs",
        runs=page.runs,
        state=chosen or "",
        pr=pull,
        on=on,
        devices=context.devices,
        states=[(state.value, word) for state, word in wording.STATE_WORDS.items()],
        next_page=f"/?{query}" if page.next_before else "",
        unfinished=any(run.state not in FINAL_RUN_STATES for run in page.runs),
        follow_from=None if older else last_event,
        webhook_url=f"{context.settings.public_url}/github/webhook",
    )


@router.get("/audits")
def audits_page(context: Context) -> HTMLResponse:
    """The newest audits, each with what broke and who had missed it."""
    with context.store.reading() as session:
        page, _ = list_audits(session, limit=_AUDITS)
    return PAGES.render("audits.html", context, nav="audits", audits=page.audits, shown=_GLIMPSE)


@router.get("/runs/{run_id}")
def run_page(context: Context, reads: Reads, wanted: Annotated[Wanted, Depends(_wanted)]) -> HTMLResponse:
    """One run: verdict, progress, funnel, results, and the tests left out."""
    try:
        values = reads.get(("run", wanted), lambda: _run_values(context, wanted))
    except NotFoundError as error:
        return PAGES.render(
            "error.html", context, status=404, nav="", heading=error.message, advice="It may never have been."
        )
    return PAGES.render("run.html", context, nav="", wanted=wanted, q=wanted.q, only=wanted.verdict, **values)


def _run_values(context: RelayContext, wanted: Wanted) -> dict[str, Any]:
    with context.store.reading() as session:
        last_event = last_event_id(session, wanted.run_id)  # first: what follows is at least as new
        detail = run_detail(session, wanted.run_id, context.settings.public_url)
        groups = tuple(_groups(session, detail, wanted))
        bases = {test.base for group in groups for test in group.tests}
        considered = load_considered(session, wanted.run_id)
        lanes = shard_lanes(session, wanted.run_id, detail.run.created_at, detail.run.finished_at)
        run, live = detail.run, detail.run.state not in FINAL_RUN_STATES
        section = log_section(session, run.id, wanted.log, wanted.address, live=live, kept=wanted.parameters())
    return _left_out(considered, wanted) | {
        "last_event": last_event,
        "log": section,
        "no_log": log_words.nothing(live),
        "files": run_files(detail, section.page.logs),
        "decisions": considered.about(bases),
        "detail": detail,
        "run": run,
        "live": live,
        "word": wording.run_word(run),
        "announcement": wording.announcement(run),
        "no_results": wording.no_results(run, live),
        "groups": groups,
        "funnel": funnel_picture(detail.funnel) if detail.funnel else None,
        "timeline": time_line(lanes, run.created_at, run.finished_at or context.now()),
        "lanes_cap": LANES_CAP,
        "shard_words": shard_words,
        "working": sum(shard.state == ShardState.LEASED for shard in detail.shards),
        "shard_trouble": any(shard.error for shard in detail.shards),
    }


def _left_out(considered: Considered, wanted: Wanted) -> dict[str, Any]:
    left, held = wanted.left_page, wanted.held_page
    dropped = considered.page(kept=False, q=wanted.q, limit=_LEFT_OUT, offset=left * _LEFT_OUT)
    filtered = considered.held(q=wanted.q, limit=_LEFT_OUT, offset=held * _LEFT_OUT)
    return {
        "left_out": dropped,
        "left_out_page": wanted.pager("left", "left-out", left, _LEFT_OUT, dropped.total),
        "filtered": filtered,
        "filtered_page": wanted.pager("held", "left-out", held, _LEFT_OUT, filtered.total),
    }


def _groups(session: Session, detail: RunDetail, wanted: Wanted) -> Iterator[Group]:
    """Results by verdict, worst first, then what is not reported yet; or the pages of the one verdict asked for."""
    run = detail.run
    if wanted.verdict:
        offset = wanted.tests_page * _TESTS
        found = list_tests(session, run.id, verdict=wanted.verdict, limit=_TESTS, offset=offset)
        pager = wanted.pager("tests", "results", wanted.tests_page, _TESTS, found.total)
        yield _group(wanted.verdict, found, page=pager)
        return
    for verdict in BY_WEIGHT:
        if run.verdicts.get(verdict):
            found = list_tests(session, run.id, verdict=verdict, limit=_GLIMPSE)
            more = wanted.address("results", verdict=verdict) if found.total > _GLIMPSE else ""
            yield _group(verdict, found, more=more)
    if run.reported < run.planned:
        yield _group(None, list_waiting_tests(session, run.id, limit=_GLIMPSE))


def _group(verdict: Verdict | None, found: TestPage, *, more: str = "", page: Pager | None = None) -> Group:
    name, word = verdict or "waiting", wording.verdict_word(verdict)
    return Group(name, word, verdict in FAILURES, found.tests, found.total, more, page)
