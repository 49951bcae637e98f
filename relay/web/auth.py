"""Who may ask for what: a bearer token's scope on the API, a sign-in on the pages.

Owns the dependencies that guard routes, and the cookie's name. A request that changes something through the API needs a
bearer token, which no other site can make a browser send; a form of a page is guarded by `relay.web.forms`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from relay.access.actions import Actor
from relay.access.principals import Principal, identify
from relay.access.scopes import opens
from relay.access.sign_ins import form_token, signed_in
from relay.access_views import Scope, Via
from relay.context import Context, RelayContext
from relay.errors import ForbiddenError, UnauthorizedError
from relay.web.visit import Visit, visit_of

_VARIABLES = {Scope.WORKER: "RELAY_WORKER_TOKEN"}
_OPERATOR_VARIABLE = "RELAY_OPERATOR_TOKEN"

#: What load balancers and the command line's first question need; it tells of no change and no test.
FOR_EVERYBODY = frozenset({"/api/v1/health", "/api/v1/version"})

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="`relay token create` makes one.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


def cookie_name(context: RelayContext) -> str:
    """`__Host-` binds the cookie to this host and to HTTPS; browsers refuse it on plain HTTP."""
    return "__Host-relay" if is_https(context) else "relay"


def is_https(context: RelayContext) -> bool:
    """Whether readers reach the service by HTTPS, perhaps through a proxy."""
    return context.settings.public_url.startswith("https://")


def _token_guard(scope: Scope) -> Callable[..., Actor]:
    def guard(request: Request, context: Context, credentials: Credentials) -> Actor:
        principal = _identified(context, credentials)
        if principal is None:
            raise _unauthorized(scope, given=bool(credentials and credentials.credentials))
        require_scope(principal, scope)
        return actor_of(principal, Via.API, visit_of(request.scope))

    guard.__doc__ = f"Let only tokens of scope `{scope}` pass."
    return guard


require_worker = _token_guard(Scope.WORKER)
require_operator = _token_guard(Scope.OPERATE)
require_admin = _token_guard(Scope.ADMIN)

WorkerOnly = Depends(require_worker)
OperatorOnly = Depends(require_operator)
AdminOnly = Depends(require_admin)
#: Who acts, for handlers that write the audit log.
Operator = Annotated[Actor, OperatorOnly]
Admin = Annotated[Actor, AdminOnly]


def require_reader(request: Request, context: Context, credentials: Credentials) -> None:
    """Let readers of the API pass: everybody, or, where reading takes a token, who has one or is signed in.

    Raises:
        UnauthorizedError: neither.
        ForbiddenError: a token that is not for reading.
    """
    if context.settings.read_access == "public" or request.url.path in FOR_EVERYBODY:
        return
    principal = _identified(context, credentials) or _signed_in(request, context)
    if principal is None:
        raise _unauthorized(Scope.READ, given=bool(credentials and credentials.credentials))
    require_scope(principal, Scope.READ)


def greet(request: Request, context: Context) -> None:
    """Tell the page who is signed in. Refuses nobody."""
    visit = visit_of(request.scope)
    visit.principal = _signed_in(request, context)
    if visit.principal is not None:
        visit.form_token = form_token(request.cookies[cookie_name(context)])


Greeted = Depends(greet)


def require_visitor(request: Request, context: Context, credentials: Credentials, _: Annotated[None, Greeted]) -> None:
    """Let readers of pages pass, as `require_reader` does, and tell the page who is signed in.

    Raises:
        UnauthorizedError: reading takes a token; answered with the way to the sign-in.
        ForbiddenError: a token that is not for reading.
    """
    if visit_of(request.scope).principal is None:
        require_reader(request, context, credentials)


ReaderOnly = Depends(require_reader)
VisitorOnly = Depends(require_visitor)


def require_scope(principal: Principal, scope: Scope) -> None:
    """Raises ForbiddenError when the token is known and not for this."""
    if not opens(principal.scope, scope):
        raise ForbiddenError(
            f"The token may {_may(principal.scope)}; this takes one of scope {scope}.",
            f"`relay token create NAME --scope {scope}` makes one.",
        )


def actor_of(principal: Principal, via: Via, visit: Visit) -> Actor:
    """Who acts, as the audit log has it."""
    return Actor(principal.name, principal.token_id, via, visit.request_id)


def _identified(context: RelayContext, credentials: HTTPAuthorizationCredentials | None) -> Principal | None:
    if credentials is None:
        return None
    return identify(context.store, context.settings, credentials.credentials, context.now())


def _signed_in(request: Request, context: RelayContext) -> Principal | None:
    cookie = request.cookies.get(cookie_name(context), "")
    return signed_in(context.store, context.settings, cookie, context.now()) if cookie else None


def _may(scope: Scope) -> str:
    return {
        Scope.READ: "only read",
        Scope.OPERATE: "read and operate",
        Scope.ADMIN: "read, operate and administer",
        Scope.WORKER: "only work",
    }[scope]


def _unauthorized(scope: Scope, *, given: bool) -> UnauthorizedError:
    what = "is not valid here; it may have expired or been revoked" if given else "is missing"
    own = _VARIABLES.get(scope, _OPERATOR_VARIABLE)
    return UnauthorizedError(
        f"The token {what}; this takes one of scope {scope}.",
        f"Send 'Authorization: Bearer <token>' with one that `relay token create` made, or with the value of {own}, "
        f"which is in the relay's state folder unless it was set.",
    )
