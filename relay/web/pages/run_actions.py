"""The forms of a run's page: run again, cancel. Each was confirmed on the page before it is sent here."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from relay.context import Context
from relay.errors import NotFoundError
from relay.web.forms import FormActor, FormFields
from relay.web.operating import call_run_off, run_again
from relay.web.pages.shell import number

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.post("/runs/{run_id}/rerun")
def rerun_form(context: Context, actor: FormActor, fields: FormFields, run_id: str) -> RedirectResponse:
    """Opens a new run and shows it. `what` is `failed`, `full`, or anything else for the same again."""
    what = fields.get("what", "")
    summary = run_again(context, actor, _known(run_id), failed=what == "failed", full=what == "full")
    return RedirectResponse(f"/runs/{summary.id}", HTTPStatus.SEE_OTHER)


@router.post("/runs/{run_id}/cancel")
def cancel_form(context: Context, actor: FormActor, run_id: str) -> RedirectResponse:
    """Cancels the run and shows it."""
    summary = call_run_off(context, actor, _known(run_id))
    return RedirectResponse(f"/runs/{summary.id}", HTTPStatus.SEE_OTHER)


def _known(run_id: str) -> int:
    found = number(run_id)
    if found is None:
        raise NotFoundError("There is no such run.", "It may never have been.")
    return found
