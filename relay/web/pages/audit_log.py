"""`/audit-log`: what operators did, newest first. It names people's tokens, so it is for who may operate."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.access.actions import ActionFilter, list_actions
from relay.access_views import Scope
from relay.context import Context
from relay.errors import UnauthorizedError
from relay.store.access_models import ACTOR_CAP
from relay.web import access_words
from relay.web.auth import require_scope
from relay.web.pages.shell import PAGES, number
from relay.web.visit import current_visit

_ROWS = 50

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/audit-log")
def audit_log_page(
    context: Context, actor: str = "", action: str = "", run: str = "", before: str = ""
) -> HTMLResponse:
    """The log, filtered by who, what and which run. Odd values in an address are taken as not given."""
    principal = current_visit().principal
    if principal is None:
        raise UnauthorizedError("The audit log is for operators.", "Sign in to see it.")
    require_scope(principal, Scope.OPERATE)
    actor, run_id = actor.strip().replace("\0", "")[:ACTOR_CAP], number(run)
    action = action if action in dict(access_words.ACTION_WORDS) else ""
    with context.store.reading() as session:
        wanted = ActionFilter(actor or None, action or None, run_id)
        page = list_actions(session, wanted, limit=_ROWS, before=number(before))
    given = {"actor": actor, "action": action, "run": run_id, "before": page.next_before}
    return PAGES.render(
        "audit_log.html",
        context,
        nav="audit-log",
        actions=page.actions,
        actor=actor,
        action=action,
        run_id=run_id,
        filtered=bool(actor or action or run_id),
        words=access_words.ACTION_WORDS,
        older=f"/audit-log?{urlencode({k: v for k, v in given.items() if v})}" if page.next_before else "",
    )
