"""What a run leaves behind, as files: its selection and its results as JSON. The JUnit report is `read_api`'s, the log
`log_api`'s. Open like the rest of the read API.
"""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from relay.artifact_views import SelectionDocument
from relay.context import Context
from relay.contract import Decision, FilteredTest
from relay.runs.case_listing import planned_by_file
from relay.runs.listings import load_considered
from relay.runs.queries import run_detail
from relay.views import RunDetail, TestView
from relay.web.read_api import RunId
from relay.web.refusals import answers

router = APIRouter(prefix="/api/v1/runs", tags=["read"])


@router.get("/{run_id}/selection.json", summary="A run's selection as a file", response_model=SelectionDocument)
def selection(context: Context, run_id: RunId) -> StreamingResponse:
    """The changed files, the funnel, and every considered test with its reason chain; what the manifests kept from
    running as well."""
    with context.store.reading() as session:
        detail = run_detail(session, run_id, context.settings.public_url)
        considered = load_considered(session, run_id)
    document = SelectionDocument(
        run=detail.run,
        selection_state=detail.selection_state,
        plan=detail.plan,
        notes=detail.notes,
        changed_files=detail.changed_files,
        funnel=detail.funnel,
        decisions=tuple(map(Decision.model_validate, considered.decisions)),
        filtered=tuple(map(FilteredTest.model_validate, considered.filtered)),
    )
    return as_file(iter([document.model_dump_json(indent=1)]), f"run-{run_id}.selection.json", "application/json")


@router.get(
    "/{run_id}/results.json",
    summary="A run's results as a file",
    response_class=StreamingResponse,
    responses=answers({"run": {"id": 128, "state": "finished"}, "tests": [{"verdict": "ok"}]}, type="object"),
)
def results(context: Context, run_id: RunId) -> StreamingResponse:
    """The run, and all its planned tests with their attempts, written while it is read. Those of a run that is not
    over are the results so far."""
    with context.store.reading() as session:
        detail = run_detail(session, run_id, context.settings.public_url)
    pieces = _results(detail, planned_by_file(context.store, run_id))
    return as_file(pieces, f"run-{run_id}.results.json", "application/json")


def _results(detail: RunDetail, tests: Iterator[TestView]) -> Iterator[str]:
    yield f'{{"run": {detail.run.model_dump_json()},\n"tests": ['
    for number, test in enumerate(tests):
        yield f"{',' if number else ''}\n{test.model_dump_json()}"
    yield "\n]}\n"


def as_file(pieces: Iterator[str], name: str, media_type: str) -> StreamingResponse:
    """An answer that quotes upstream: no browser may take it for anything but a file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(pieces, media_type=media_type, headers=headers)
