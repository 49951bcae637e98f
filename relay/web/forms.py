"""Forms of the pages: read within bounds, and taken only from somebody who is signed in and saw our own page.

A form carries the token of `relay.access.sign_ins.form_token`, which the page put there (`show.form_token()` in
`macros.html`). The cookie is SameSite=Strict as well, and a browser that says the form came from elsewhere is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from relay.access.actions import Actor
from relay.access.sign_ins import fits_form
from relay.access_views import Scope, Via
from relay.context import Context
from relay.errors import ForbiddenError, TooLargeError, UnauthorizedError
from relay.web.auth import VisitorOnly, actor_of, cookie_name, require_scope
from relay.web.visit import visit_of

FORM_CAP = 64 * 1024
_FIELDS_CAP = 200
TOKEN_FIELD = "form_token"  # noqa: S105 - the name of a field, not a token

Fields = Mapping[str, str]


async def read_fields(request: Request) -> Fields:
    """The fields of an urlencoded form; of repeated ones the last, of anything else none.

    Raises:
        TooLargeError: more than a form of ours can hold.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > FORM_CAP:
            raise TooLargeError(f"The form is larger than {FORM_CAP} bytes.", "Fill in less.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS_CAP)
    except ValueError:
        return {}
    return dict(pairs)


FormFields = Annotated[Fields, Depends(read_fields)]


def require_own_form(request: Request, cookie: str, fields: Fields) -> None:
    """Raises ForbiddenError for a form that no page of ours made for this browser."""
    foreign = request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
    if foreign or not fits_form(cookie, fields.get(TOKEN_FIELD, "")):
        raise ForbiddenError(
            "This form was not made for you, or is too old.",
            "Go back, load the page again, and send it from there.",
            code="foreign_form",
        )


def operator_form(request: Request, context: Context, fields: FormFields, _: Annotated[None, VisitorOnly]) -> Actor:
    """Who sends a form that changes something.

    Raises:
        UnauthorizedError: nobody is signed in; answered with the way to the sign-in.
        ForbiddenError: the form is not ours, or the token is not for operating.
    """
    visit = visit_of(request.scope)
    if visit.principal is None:
        raise UnauthorizedError("Nobody is signed in, or the sign-in is over.", "Sign in and try again.")
    require_own_form(request, request.cookies.get(cookie_name(context), ""), fields)
    require_scope(visit.principal, Scope.OPERATE)
    return actor_of(visit.principal, Via.PAGE, visit)


#: For handlers of forms: `def replay(form_actor: FormActor, fields: FormFields, ...)`.
FormActor = Annotated[Actor, Depends(operator_form)]
