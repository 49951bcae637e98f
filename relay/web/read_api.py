"""The read API under `/api/v1`: runs, tests, decisions. Open to everybody who can reach the service; changes nothing.

Routes only: what they answer is made in `relay.runs.queries` and `relay.runs.listings`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from sqlalchemy import text

from relay.context import Context
from relay.errors import ConflictError
from relay.runs.case_listing import finished_run, planned_by_file
from relay.runs.flakes import flake_rate
from relay.runs.listings import load_considered, page_of_tests
from relay.runs.queries import ensure_run, events_after, list_runs, run_detail
from relay.views import (
    Conclusion,
    DecisionPage,
    FlakeRate,
    Health,
    RunDetail,
    RunHistory,
    RunPage,
    RunState,
    TestPage,
    Verdict,
    Version,
)
from relay.web.junit import junit_report
from relay.web.paging import LARGEST, Before, Limit, Offset, Paged
from relay.web.refusals import answers, refuses

router = APIRouter(prefix="/api/v1", tags=["read"])

_JUNIT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="run 128" tests="1" failures="0"><testsuite name="test/test_ops.py" tests="1" failures="0">
<testcase classname="TestCommonSPYRE" name="test_out_add_spyre_float32" time="0.210"/></testsuite></testsuites>
"""
_UNFINISHED = ConflictError(
    "Run 128 is not finished yet; it is running.",
    "Wait for it (relay run watch 128) and ask again.",
    code="run_unfinished",
)

RunId = Annotated[int, Path(ge=1, le=LARGEST, description="A run's number")]
#: PostgreSQL refuses to compare a text with NUL.
WITHOUT_NUL = r"^[^\x00]*$"
Search = Annotated[str, Query(max_length=200, description="A part of the test's name, in any letter case")]


@router.get("/health", summary="Whether the service works")
def health(context: Context) -> Health:
    """`ok` when the database answers; a bad edit of the manifests does not make the service unhealthy."""
    with context.store.reading() as session:
        session.execute(text("SELECT 1"))
    problem = context.manifest_problem()
    return Health(
        status="ok", database="ok", device=context.settings.device, devices=context.devices, manifest_problem=problem
    )


@router.get("/version", summary="Which version this is")
def service_version() -> Version:
    """The name of the program, and its version."""
    return Version(name="oot-relay", version=version("oot-relay"))


@router.get("/runs", summary="Runs, newest first")
def runs(
    context: Context,
    paging: Paged,
    *,
    state: Annotated[RunState | None, Query(description="Only runs in this state")] = None,
    conclusion: Annotated[Conclusion | None, Query(description="Only runs that ended like this")] = None,
    repo: Annotated[str, Query(max_length=200, pattern=WITHOUT_NUL, description="owner/name, in any letter case")] = "",
    branch: Annotated[
        str, Query(max_length=300, pattern=WITHOUT_NUL, description="The branch the change goes to")
    ] = "",
    pr: Annotated[int | None, Query(ge=1, le=LARGEST, description="Only runs of this pull request")] = None,
    device: Annotated[str, Query(max_length=100, pattern=WITHOUT_NUL, description="Only runs on this device")] = "",
    limit: Limit = 20,
    before: Before = None,
) -> RunPage:
    """Each with its state, its conclusion and the counts of its verdicts."""
    with context.store.reading() as session:
        page = list_runs(
            *(session, context.settings.public_url),
            state=state,
            conclusion=conclusion,
            repo=repo,
            branch=branch,
            pr=pr,
            device=device,
            limit=limit,
            before=paging.number(before),
        )
    return paging.linked(page, page.next_before)


@router.get("/runs/{run_id}", summary="One run")
def run(context: Context, run_id: RunId) -> RunDetail:
    """Its verdict, funnel, changed files and shards; tests and decisions have lists of their own."""
    with context.store.reading() as session:
        return run_detail(session, run_id, context.settings.public_url)


@router.get("/runs/{run_id}/tests", summary="The planned tests of a run")
def planned_tests(
    context: Context,
    paging: Paged,
    run_id: RunId,
    *,
    verdict: Annotated[Verdict | None, Query(description="Only tests with this verdict")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> TestPage:
    """With what came of each, worst first."""
    after = paging.numbers(2) if paging.given else None
    with context.store.reading() as session:
        page, more = page_of_tests(session, run_id, verdict=verdict, limit=limit, offset=offset, after=after)
    return paging.linked(page, *more)


@router.get("/runs/{run_id}/history", summary="The events of a run so far")
def history(
    context: Context,
    paging: Paged,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="Only events after this one, by its id")] = 0,
    limit: Limit = 500,
) -> RunHistory:
    """Oldest first; `/events` streams them as they come."""
    with context.store.reading() as session:
        ensure_run(session, run_id)
        over, found = events_after(session, run_id, paging.number(after) or 0, limit=limit + 1)
    more = found[limit - 1].id if len(found) > limit else None
    return paging.linked(RunHistory(events=found[:limit], next_after=more, over=over and more is None), more)


@router.get(
    "/runs/{run_id}/junit.xml",
    summary="A run as JUnit XML",
    response_class=StreamingResponse,
    responses=answers(_JUNIT, "application/xml") | refuses(_UNFINISHED),
)
def junit(context: Context, run_id: RunId) -> StreamingResponse:
    """Of a run that is over: a suite for each test file, written while it is read."""
    detail, counts = finished_run(context.store, run_id, context.settings.public_url)
    report = junit_report(detail, counts, planned_by_file(context.store, run_id))
    # It quotes upstream, so no browser may take it for anything but a file.
    headers = {
        "Content-Disposition": f'attachment; filename="run-{run_id}.junit.xml"',
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(report, media_type="application/xml", headers=headers)


@router.get("/flakes", summary="How flaky a test is")
def flakes(
    context: Context,
    test: Annotated[str, Query(min_length=1, max_length=1_000, description="The whole id of a collected test")],
    device: Annotated[str, Query(max_length=100, description="The service's own device if left out")] = "",
    runs: Annotated[int, Query(ge=1, le=1_000, description="How many of the newest runs to look at")] = 100,
) -> FlakeRate:
    """How often attempts at it disagreed on one commit, by the newest runs."""
    with context.store.reading() as session:
        # PostgreSQL refuses to compare a text with NUL, and no id on record has one.
        known = test.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return flake_rate(session, known, device or context.settings.device, runs=runs)


@router.get("/runs/{run_id}/decisions", summary="Why tests of a run were kept or left out")
def decisions(
    context: Context,
    paging: Paged,
    run_id: RunId,
    *,
    kept: Annotated[bool | None, Query(description="Only those that were kept, or only those left out")] = None,
    q: Search = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> DecisionPage:
    """Considered base tests with their reason chains, and what the manifests kept from running of each."""
    begin = paging.number(offset) or 0
    with context.store.reading() as session:
        page = load_considered(session, run_id).page(kept=kept, q=q, limit=limit, offset=begin)
    # A selection is never changed, so that a number of decisions stays a place in it.
    return paging.linked(page, begin + limit if begin + limit < page.total else None)
