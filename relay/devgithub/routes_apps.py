"""Routes of apps: themselves, their installations and tokens, their webhook deliveries.

Source: https://docs.github.com/en/rest/apps
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Request, Response

from relay.devgithub import bodies
from relay.devgithub.access import AppOf, CallerOf, RepositoryOf, State
from relay.devgithub.bodies import Json
from relay.devgithub.paging import PageNumber, Pages, PageSize, from_cursor, page_of
from relay.devgithub.records import App, Delivery, Installation, RefusedError, not_found
from relay.devgithub.state import DevGitHub

router = APIRouter()
_LEVELS = ("read", "write", "admin")


@router.get("/app")
def get_app(app: AppOf, state: State) -> Json:
    """The app that asks."""
    return bodies.app(state, app)


@router.get("/app/installations")
def list_installations(
    app: AppOf, state: State, request: Request, response: Response, *, page: PageNumber = 1, per_page: PageSize = 30
) -> list[Json]:
    """Where the app is installed."""
    own = [each for each in state.installations.values() if each.app is app]
    return [bodies.installation(state, each) for each in page_of(own, page, per_page, request, response)]


@router.get("/app/installations/{installation_id}")
def get_installation(installation_id: int, app: AppOf, state: State) -> Json:
    """One installation of the app."""
    return bodies.installation(state, _installation(state, app, installation_id))


@router.get("/repos/{owner}/{repo}/installation")
def get_repository_installation(repository: RepositoryOf, app: AppOf, state: State) -> Json:
    """The installation through which the app has a repository."""
    found = state.installation_for(app, repository)
    if found is None:
        raise not_found()
    return bodies.installation(state, found)


@router.post("/app/installations/{installation_id}/access_tokens", status_code=201)
def create_token(
    installation_id: int, app: AppOf, state: State, wanted: Annotated[dict[str, Any] | None, Body()] = None
) -> Json:
    """A token for an hour, for all repositories and permissions of the installation or for fewer."""
    found = _installation(state, app, installation_id)
    chosen = _chosen(state, found, wanted or {})
    permissions = _permissions(app, (wanted or {}).get("permissions"))
    grant = state.tokens.grant(found, chosen, permissions)
    answer: Json = {
        "token": grant.token,
        "expires_at": bodies.moment(grant.expires_at),
        "permissions": dict(grant.permissions),
        "repository_selection": "selected",
    }
    if "repositories" in (wanted or {}) or "repository_ids" in (wanted or {}):
        answer["repositories"] = [bodies.full_repository(state, state.repositories[key]) for key in sorted(chosen)]
    return answer


@router.get("/installation/repositories")
def list_repositories(
    caller: CallerOf,
    state: State,
    request: Request,
    response: Response,
    *,
    page: PageNumber = 1,
    per_page: PageSize = 30,
) -> Json:
    """What the token opens."""
    if not caller.as_installation:
        raise RefusedError(403, "Resource not accessible by integration")
    found = [state.repositories[key] for key in sorted(caller.repositories)]
    shown = page_of(found, page, per_page, request, response)
    return {
        "total_count": len(found),
        "repository_selection": "selected",
        "repositories": [bodies.full_repository(state, each) for each in shown],
    }


@router.get("/rate_limit")
def rate_limit(caller: CallerOf, state: State) -> Json:
    """What is left for the caller; asking costs nothing."""
    quota = state.rate_limits.count(caller.name, requests=0)
    rate = {"limit": quota.limit, "used": quota.used, "remaining": quota.remaining, "reset": quota.reset}
    return {"resources": {"core": rate, "search": rate, "graphql": rate}, "rate": rate}


@router.get("/app/hook/deliveries")
def list_deliveries(
    app: AppOf,
    state: State,
    request: Request,
    response: Response,
    *,
    per_page: PageSize = 30,
    cursor: str = "",
    status: Literal["", "success", "failure"] = "",
) -> list[Json]:
    """The deliveries of the app's webhook, the newest first, all or those that the receiver took (or did not)."""
    kept = [each for each in state.hooks.of(app) if status in ("", "success" if each.taken else "failure")]
    shown = from_cursor(kept, lambda each: each.id, Pages(cursor, per_page, request, response))
    return [_delivery_item(each) for each in shown]


@router.get("/app/hook/deliveries/{delivery_id}")
def get_delivery(delivery_id: int, app: AppOf, state: State) -> Json:
    """One delivery, with what was sent and answered."""
    found = state.hooks.find(app, delivery_id)
    return {
        **_delivery_item(found),
        "url": app.webhook_url,
        "request": {"headers": found.headers, "payload": json.loads(found.body)},
        "response": {"headers": found.response_headers, "payload": found.response_body},
    }


@router.post("/app/hook/deliveries/{delivery_id}/attempts", status_code=202)
def redeliver(delivery_id: int, app: AppOf, state: State) -> Json:
    """Send a delivery again."""
    state.hooks.redeliver(app, delivery_id)
    return {}


def _installation(state: DevGitHub, app: App, number: int) -> Installation:
    found = state.installations.get(number)
    if found is None or found.app is not app:
        raise not_found()
    return found


def _chosen(state: DevGitHub, installation: Installation, wanted: Mapping[str, Any]) -> frozenset[str]:
    """The repositories a token is asked for, by name or by id; all of the installation when none is named."""
    names = {f"{installation.owner}/{name}".casefold() for name in wanted.get("repositories", ())}
    numbers = set(wanted.get("repository_ids", ()))
    known = {state.repositories[key].id: key for key in installation.repositories if key in state.repositories}
    if not names and not numbers:
        return frozenset(known.values())
    if not names <= set(known.values()) or not numbers <= set(known):
        said = "There is at least one repository that does not exist or is not accessible to the parent installation."
        raise RefusedError(422, said)
    return frozenset(names | {known[number] for number in numbers})


def _permissions(app: App, wanted: Mapping[str, str] | None) -> Mapping[str, str]:
    if wanted is None:
        return app.permissions
    for name, level in wanted.items():
        held = app.permissions.get(name)
        if held is None or level not in _LEVELS or _LEVELS.index(level) > _LEVELS.index(held):
            raise RefusedError(422, "The permissions requested are not granted to this installation.")
    return {"metadata": "read", **wanted}


def _delivery_item(of: Delivery) -> Json:
    return {
        "id": of.id,
        "guid": of.guid,
        "delivered_at": bodies.moment(of.delivered_at),
        "redelivery": of.redelivery,
        "duration": of.duration_s,
        "status": of.status,
        "status_code": of.status_code,
        "event": of.event,
        "action": of.action,
        "installation_id": of.installation_id,
        "repository_id": of.repository_id,
        "throttled_at": None,
    }
