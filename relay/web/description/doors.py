"""Which door an operation has: read from the guards that the route really depends on, so that the two cannot differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fastapi.dependencies.models import Dependant

from relay.access_views import Scope
from relay.web.auth import FOR_EVERYBODY, require_admin, require_operator, require_reader, require_worker

TOKEN, SIGN_IN = "token", "sign-in"
_GUARDS: dict[Callable[..., object], Scope] = {
    require_worker: Scope.WORKER,
    require_operator: Scope.OPERATE,
    require_admin: Scope.ADMIN,
}


@dataclass(frozen=True, slots=True)
class Door:
    """The scope that a token has to have; `cookie`: a sign-in opens it as well."""

    scope: Scope
    cookie: bool = False

    @property
    def security(self) -> list[dict[str, list[str]]]:
        """As OpenAPI writes it: one of these, with the scope as the role that it wants."""
        token = [{TOKEN: [str(self.scope)]}]
        return [*token, {SIGN_IN: []}] if self.cookie else token


def door_of(path: str, dependant: Dependant, *, reading_takes_token: bool) -> Door | None:
    """None where everybody may."""
    calls = set(_calls(dependant))
    for guard, scope in _GUARDS.items():
        if guard in calls:
            return Door(scope)
    reads = require_reader in calls and reading_takes_token and path not in FOR_EVERYBODY
    return Door(Scope.READ, cookie=True) if reads else None


def schemes(cookie: str) -> dict[str, dict[str, Any]]:
    """The ways to say who one is. `cookie` is the name of a sign-in's cookie."""
    return {
        TOKEN: {
            "type": "http",
            "scheme": "bearer",
            "description": "A token that `relay token create NAME --scope SCOPE` made, or one of the settings.",
        },
        SIGN_IN: {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie,
            "description": "The cookie of a sign-in at `/sign-in`. It opens what only reads.",
        },
    }


def _calls(dependant: Dependant) -> Iterator[object]:
    for inner in dependant.dependencies:
        yield inner.call
        yield from _calls(inner)
