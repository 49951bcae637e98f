"""`/sign-in` and `/sign-out`: a token is shown once, and a cookie stands for it for some hours.

Open to everybody, also where reading takes a token. The form is guarded by a cookie of its own, which is set with the
page: nobody is signed in yet, and still no other site may sign a browser in.
"""

from __future__ import annotations

import re
from http import HTTPStatus

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from relay.access.actions import record_action
from relay.access.principals import Principal, identify
from relay.access.scopes import opens
from relay.access.sign_in_limit import count_try
from relay.access.sign_ins import SIGNED_IN_FOR, form_token, new_cookie, sign_in, sign_out
from relay.access_views import Scope, Via
from relay.context import Context, RelayContext
from relay.errors import ForbiddenError
from relay.web import access_words
from relay.web.addresses import address_of
from relay.web.auth import Greeted, actor_of, cookie_name, is_https
from relay.web.forms import FormFields, require_own_form
from relay.web.rendering import PAGES
from relay.web.visit import current_visit

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, dependencies=[Greeted])

_log = structlog.get_logger(__name__)

_FORM_SECONDS = 3600
_TOKEN_CAP = 500
#: A path of ours: one slash first, and nothing that a browser reads as another host or as the end of a header.
_LOCAL = re.compile(r"/(?!/)[\x21-\x5b\x5d-\x7e]{0,2000}")


def local_path(wanted: str) -> str:
    """The path that an address names if it is one of ours, else the list of runs."""
    return wanted if _LOCAL.fullmatch(wanted) else "/"


@router.get("/sign-in")
def sign_in_page(context: Context, next: str = "/") -> HTMLResponse:  # noqa: A002 - the name in the address
    """Asks for a token, or says who is signed in."""
    return _form(context, local_path(next))


@router.post("/sign-in")
def sign_in_form(request: Request, context: Context, fields: FormFields) -> Response:
    """Takes a token, sets the cookie and goes on to where the reader wanted to be."""
    wanted = local_path(fields.get("next", "/"))
    try:
        require_own_form(request, request.cookies.get(_form_cookie(context), ""), fields)
    except ForbiddenError:
        return _form(context, wanted, problem=access_words.STALE_FORM, status=HTTPStatus.FORBIDDEN)
    wait_s = count_try(context.store, address_of(request, context), context.now())
    if wait_s is not None:
        return _too_often(context, wanted, wait_s)
    token = fields.get("token", "").strip()[:_TOKEN_CAP]
    principal = identify(context.store, context.settings, token, context.now()) if token else None
    if principal is None:
        _log.warning("sign_in_refused", given=bool(token))
        problem = access_words.WRONG_TOKEN if token else access_words.NO_TOKEN
        return _form(context, wanted, problem=problem, status=HTTPStatus.UNAUTHORIZED)
    if not opens(principal.scope, Scope.READ):
        return _form(context, wanted, problem=access_words.NOT_FOR_PAGES, status=HTTPStatus.FORBIDDEN)
    return _signed_in(context, principal, token, wanted)


@router.post("/sign-out")
def sign_out_form(request: Request, context: Context, fields: FormFields) -> Response:
    """Ends the sign-in. Who is not signed in any more has what they wanted."""
    cookie = request.cookies.get(cookie_name(context), "")
    visit = current_visit()
    if visit.principal is not None:
        require_own_form(request, cookie, fields)
        with context.store.writing() as session:
            sign_out(session, cookie)
            record_action(session, actor_of(visit.principal, Via.PAGE, visit), "page.sign_out", context.now())
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    _set_cookie(context, answer, cookie_name(context), "", seconds=0)
    return answer


def _too_often(context: RelayContext, wanted: str, wait_s: int) -> Response:
    _log.warning("sign_in_throttled", wait_s=wait_s)
    problem = access_words.tried_too_often(wait_s)
    page = _form(context, wanted, problem=problem, status=HTTPStatus.TOO_MANY_REQUESTS)
    page.headers["Retry-After"] = str(wait_s)
    return page


def _signed_in(context: RelayContext, principal: Principal, token: str, wanted: str) -> Response:
    with context.store.writing() as session:
        cookie = sign_in(session, principal, token, context.now())
        record_action(session, actor_of(principal, Via.PAGE, current_visit()), "page.sign_in", context.now())
    answer = RedirectResponse(wanted, HTTPStatus.SEE_OTHER)
    _set_cookie(context, answer, cookie_name(context), cookie, seconds=int(SIGNED_IN_FOR.total_seconds()))
    _set_cookie(context, answer, _form_cookie(context), "", seconds=0)
    return answer


def _form(context: RelayContext, wanted: str, *, problem: str = "", status: int = HTTPStatus.OK) -> HTMLResponse:
    cookie = new_cookie()
    page = PAGES.render(
        "sign_in.html",
        context,
        status=status,
        nav="sign-in",
        wanted=wanted,
        problem=problem,
        own_form=form_token(cookie),
        reading_is_public=context.settings.read_access == "public",
    )
    _set_cookie(context, page, _form_cookie(context), cookie, seconds=_FORM_SECONDS)
    return page


def _form_cookie(context: RelayContext) -> str:
    return f"{cookie_name(context)}-form"


def _set_cookie(context: RelayContext, answer: Response, name: str, value: str, *, seconds: int) -> None:
    """Out of reach of scripts and of other sites, and of plain HTTP where the service is reached by HTTPS."""
    answer.set_cookie(
        name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=is_https(context)
    )
