"""`/api/v1/upgrades`: reports about upgrades of upstream. Everybody who may read reads them; an operator publishes one.

A report may be as large as two releases of upstream are, so its body is read and judged in a thread, past FastAPI.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from relay.access.actions import Actor, record_action
from relay.context import Context, RelayContext
from relay.errors import BadMessageError, ConflictError, TooLargeError
from relay.upgrade.html import to_html
from relay.upgrade.keeping import keep_report, kept_report, read_publication, text_of
from relay.upgrade.listing import (
    TestFilter,
    existing_upgrade,
    list_tests,
    list_upgrades,
    upgrade_summary,
    upgrade_view,
)
from relay.upgrade.markdown import to_markdown
from relay.upgrade.reading import REPORT_CAP, ReportError
from relay.upgrade.running import execution_view, not_run, open_execution
from relay.upgrade.views import (
    DutyWord,
    ExecutionAsked,
    ExecutionView,
    Published,
    UpgradePage,
    UpgradeTestPage,
    UpgradeView,
)
from relay.web.artifacts_api import as_file
from relay.web.auth import Operator
from relay.web.paging import LARGEST, Limit, Paged
from relay.web.read_api import WITHOUT_NUL
from relay.web.refusals import Responses, answers, refuses

router = APIRouter(prefix="/api/v1/upgrades", tags=["upgrades"])
read_router = APIRouter(prefix="/api/v1/upgrades", tags=["upgrades"])

_NO_REPORT = BadMessageError(
    "This is no upgrade report: version: Input should be 1.", "Send what `relay upgrade --json` wrote, unchanged."
)
_NO_COMMITS = ConflictError(
    "The report compares trees that are no commits, which no worker can check out.",
    "Make it of two revisions: relay upgrade --repo CLONE --from REVISION --to REVISION.",
    code="no_commits",
)
_TOO_LARGE = TooLargeError(f"The body is larger than {REPORT_CAP} bytes.", "Send the content in smaller parts.")
_EXAMPLE: dict[str, Any] = {
    "format": "oot-relay/upgrade-report",
    "version": 1,
    "base": "v2.13.0",
    "head": "v2.14.0",
    "device": "spyre",
    "files_before": 812,
    "files_after": 836,
    "operators": {"before": 672, "after": 680},
    "tests": [{"file": "test/test_nn.py", "cls": "TestNN", "name": "test_pad", "changes": ["body"], "evidence": [0]}],
    "findings": [{"test": 0, "duty": "must assess", "reason": "nn.yaml:7 asks for it", "cause": "pad"}],
    "evidence": [{"kind": "body", "symbol": "test_pad", "text": "two lines differ"}],
}
#: The form is `relay.upgrade.document`'s. Here are its parts only: it cuts what is too long where others refuse.
_ASKED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "title": "UpgradeReport",
                    "description": "What `relay upgrade --json` writes.",
                    "required": [
                        *("format", "version", "base", "head", "device"),
                        *("files_before", "files_after", "operators"),
                    ],
                },
                "example": _EXAMPLE,
            }
        },
    }
}
_BEFORE: Responses = {200: {"model": Published, "description": "This very report was on record"}}

UpgradeId = Annotated[int, Path(ge=1, le=LARGEST, description="A report's number")]


@router.post(
    "",
    status_code=201,
    summary="Publish an upgrade report",
    responses=_BEFORE | refuses(_NO_REPORT, _TOO_LARGE),
    openapi_extra=_ASKED,
)
async def publish(request: Request, response: Response, context: Context, operator: Operator) -> Published:
    """Keeps a report for everybody to read: 201, or 200 when the very same was published before."""
    body = await request.body()
    published = await run_in_threadpool(_publish, context, operator, body)
    response.status_code = 200 if published.repeated else 201
    return published


def _publish(context: RelayContext, operator: Actor, body: bytes) -> Published:
    now = context.now()
    try:
        new = read_publication(body)
        with context.store.writing() as session:
            kept, repeated = keep_report(session, new, operator.name, now)
            if not repeated:
                subject = f"upgrade {kept.id} {kept.base} to {kept.head}"
                record_action(session, operator, "upgrade.publish", now, subject=subject)
            return Published(upgrade=upgrade_summary(kept, context.settings.public_url), repeated=repeated)
    except ReportError as error:
        raise BadMessageError(f"This is no upgrade report: {error}.", _NO_REPORT.hint) from error


@router.post(
    "/{upgrade_id}/execution",
    status_code=201,
    summary="Run a report's tests on both releases",
    responses=refuses(_NO_COMMITS),
)
def execute(
    context: Context, operator: Operator, upgrade_id: UpgradeId, wanted: ExecutionAsked | None = None
) -> ExecutionView:
    """Opens a run on each release, and wakes workers for them. A run that does the same is joined; asked again, the
    answer is the same while both go on or ended well."""
    now, url = context.now(), context.settings.public_url
    with context.store.writing() as session:
        upgrade = existing_upgrade(session, upgrade_id)
        if upgrade.device not in context.devices:
            raise ConflictError(
                f"The report is about {upgrade.device}, and this relay serves {', '.join(context.devices)}.",
                "Publish it to the relay whose workers have that device.",
                code="other_device",
            )
        asked = wanted or ExecutionAsked()
        runs = open_execution(session, upgrade, asked, context.settings.upstream_repo, now)
        detail = f"{', '.join(asked.duties)}, as runs {runs[0].id} and {runs[1].id}"
        record_action(session, operator, "upgrade.run", now, subject=f"upgrade {upgrade.id}", detail=detail)
        view = execution_view(session, upgrade, url)
    context.waker.wake(view.base.device)
    return view


@read_router.get(
    "/{upgrade_id}/execution", summary="How a report's tests ended on both releases", responses=refuses(not_run(2))
)
def execution(context: Context, upgrade_id: UpgradeId) -> ExecutionView:
    """Both runs, and, once both have ended, what the upgrade broke, mended, or made ask for something else."""
    with context.store.reading() as session:
        return execution_view(session, existing_upgrade(session, upgrade_id), context.settings.public_url)


@read_router.get("", summary="The upgrade reports on record")
def upgrades(context: Context, paging: Paged, *, limit: Limit = 50) -> UpgradePage:
    """The newest first, each with how many tests ask for what."""
    with context.store.reading() as session:
        page, more = list_upgrades(session, context.settings.public_url, limit=limit, before=paging.number())
    return paging.linked(page, more)


@read_router.get("/{upgrade_id}", summary="An upgrade report without its tests")
def upgrade(context: Context, upgrade_id: UpgradeId) -> UpgradeView:
    """The funnel, the operators that differ, new variants, and a model's summaries where there are some."""
    with context.store.reading() as session:
        return upgrade_view(existing_upgrade(session, upgrade_id), context.settings.public_url)


@read_router.get("/{upgrade_id}/tests", summary="What became of the tests, and what is to be done")
def upgrade_tests(
    context: Context,
    paging: Paged,
    upgrade_id: UpgradeId,
    *,
    duty: Annotated[DutyWord | None, Query(description="Only tests that ask for this")] = None,
    q: Annotated[
        str, Query(max_length=200, pattern=WITHOUT_NUL, description="A part of a test's name, or of its file's")
    ] = "",
    cause: Annotated[
        str | None,
        Query(max_length=1_000, pattern=WITHOUT_NUL, description="Only tests of this cause, by its whole name"),
    ] = None,
    limit: Limit = 100,
) -> UpgradeTestPage:
    """In the report's order, with the evidence of each. Tests that did not change and ask for nothing are counted by
    the report and not listed."""
    offset = paging.number(0) or 0
    with context.store.reading() as session:
        existing_upgrade(session, upgrade_id)
        page = list_tests(session, upgrade_id, TestFilter(duty, q, cause), limit=limit, offset=offset)
    end = offset + len(page.tests)
    return paging.linked(page, end if page.tests and end < page.total else None)


@read_router.get(
    "/{upgrade_id}/report.json",
    summary="An upgrade report as JSON",
    response_class=StreamingResponse,
    responses=answers(_EXAMPLE, type="object"),
)
def report_json(context: Context, upgrade_id: UpgradeId) -> StreamingResponse:
    """The report as it was published, with every test."""
    with context.store.reading() as session:
        text = text_of(existing_upgrade(session, upgrade_id, with_text=True)).decode()
    return as_file(iter([text]), f"upgrade-{upgrade_id}.json", "application/json")


@read_router.get(
    "/{upgrade_id}/report.md",
    summary="An upgrade report as Markdown",
    response_class=StreamingResponse,
    responses=answers("## `Upgrade v2.13.0 to v2.14.0 on spyre`\n", "text/markdown"),
)
def report_markdown(context: Context, upgrade_id: UpgradeId) -> StreamingResponse:
    """What a maintainer pastes into the issue about an upgrade: of a size that GitHub takes."""
    with context.store.reading() as session:
        report = kept_report(existing_upgrade(session, upgrade_id, with_text=True))
    return as_file(iter([to_markdown(report)]), f"upgrade-{upgrade_id}.md", "text/markdown; charset=utf-8")


@read_router.get(
    "/{upgrade_id}/report.html",
    summary="An upgrade report as one page",
    response_class=StreamingResponse,
    responses=answers("<!doctype html>\n", "text/html"),
)
def report_html(context: Context, upgrade_id: UpgradeId) -> StreamingResponse:
    """The report in one file, with a filter, for who has no relay."""
    with context.store.reading() as session:
        report = kept_report(existing_upgrade(session, upgrade_id, with_text=True))
    return as_file(iter([to_html(report)]), f"upgrade-{upgrade_id}.html", "text/html; charset=utf-8")
