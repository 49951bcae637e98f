"""What each scope includes. Knows no token and no request."""

from __future__ import annotations

from relay.access_views import Scope

_INCLUDES = {
    Scope.READ: frozenset({Scope.READ}),
    Scope.OPERATE: frozenset({Scope.OPERATE, Scope.READ}),
    Scope.ADMIN: frozenset({Scope.ADMIN, Scope.OPERATE, Scope.READ}),
    # A worker runs code nobody has reviewed: its token opens nothing but what it needs for that.
    Scope.WORKER: frozenset({Scope.WORKER}),
}


def opens(held: Scope, needed: Scope) -> bool:
    """Whether a token of scope `held` is enough where `needed` is asked for."""
    return needed in _INCLUDES[held]
