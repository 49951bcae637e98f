"""Every route has a door. Scopes open what they say, reading is public or takes a token, and a cookie changes nothing
through the API."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from relay.access.tokens import create_token
from relay.access_views import Scope
from relay.app import OWN_DOORS, ROUTERS
from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.views import ApiError
from relay.web import auth, callback, crcr_results, probes, webhook
from relay.web.pages import sign_in as sign_in_page
from tests.conftest import OpenApp
from tests.relay.web.signing_in import sign_in
from tests.relay.worker_story import arrive

GUARDS = {
    auth.require_worker,
    auth.require_operator,
    auth.require_admin,
    auth.require_reader,
    auth.require_visitor,
}
#: These know their callers by other means: a signature, an identity token, a shared key, the token in the form. Probes
#: tell nothing that is anybody's.
OTHER_MEANS = (webhook.router, callback.router, crcr_results.router, sign_in_page.router, probes.router)


def calls_of(dependant: Dependant) -> Iterator[object]:
    for one in dependant.dependencies:
        yield one.call
        yield from calls_of(one)


def routes_of(router: APIRouter) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def tokens(context: RelayContext) -> dict[Scope, str]:
    """One token of each scope."""
    return {scope: make(context, scope) for scope in Scope}


def make(context: RelayContext, scope: Scope) -> str:
    with context.store.writing() as session:
        new = create_token(session, f"a {scope} token", scope, context.now(), expires_at=None, created_by="me")
    return new.token


@pytest.fixture
def closed(settings: RelaySettings, open_app: OpenApp) -> FastAPI:
    """A relay where reading takes a token."""
    return open_app(settings.model_copy(update={"read_access": "token"}))


@pytest.fixture
def visitor(closed: FastAPI) -> TestClient:
    return TestClient(closed, follow_redirects=False)


def test_routers_with_a_door_of_their_own_have_one() -> None:
    """What asks for nothing knows its callers by other means; everything else is for readers by default."""
    assert all(router in ROUTERS for router in OWN_DOORS)
    assert sum(len(list(routes_of(router))) for router in ROUTERS) > 40
    unguarded = [
        route.path
        for router in OWN_DOORS
        if router not in OTHER_MEANS
        for route in routes_of(router)
        if not GUARDS & set(calls_of(route.dependant))
    ]
    assert unguarded == []


def test_every_route_that_changes_something_takes_more_than_reading() -> None:
    """No cookie and no read token is enough for a POST of the API."""
    stronger = {auth.require_worker, auth.require_operator, auth.require_admin}
    weak = [
        route.path
        for router in ROUTERS
        if router not in OTHER_MEANS
        for route in routes_of(router)
        if route.path.startswith("/api/")
        and set(route.methods or ()) - {"GET", "HEAD"}
        and not stronger & set(calls_of(route.dependant))
    ]
    assert weak == []


@pytest.mark.parametrize(
    ("path", "enough"),
    [
        ("/api/v1/worker/lease", {Scope.WORKER}),
        ("/api/v1/runs/{run}/cancel", {Scope.OPERATE, Scope.ADMIN}),
        ("/api/v1/tokens", {Scope.ADMIN}),
    ],
)
def test_a_scope_opens_its_own_doors(
    client: TestClient, context: RelayContext, tokens: dict[Scope, str], path: str, enough: set[Scope]
) -> None:
    """A token that is known and not enough is 403, which names the scope that is; it is not asked to sign in."""
    run_id = arrive(context.store)
    body = {"name": "x", "scope": "read"} if path.endswith("tokens") else {"worker": "w", "device": "spyre"}
    for scope, token in tokens.items():
        answer = client.post(path.format(run=run_id), json=body, headers=bearer(token))
        assert answer.is_success is (scope in enough), (scope, answer.text)
        if scope not in enough:
            error = ApiError.model_validate_json(answer.text)
            assert (answer.status_code, error.code) == (403, "forbidden")
            assert f"--scope {min(enough, key=list(Scope).index)}" in error.hint


def test_where_reading_takes_a_token_nothing_is_told_without(visitor: TestClient, closed: FastAPI) -> None:
    """All of the API but its health, the queries of results, and the pages, which lead to the sign-in."""
    open_paths = {"/api/v1/health", "/api/v1/version"}
    for route in (route for router in ROUTERS if router not in OTHER_MEANS for route in routes_of(router)):
        path = re.sub(r"\{[^}]*\}", "1", route.path)
        if "GET" not in (route.methods or ()) or path in open_paths:
            continue
        answer = visitor.get(path)
        if path.startswith(("/api/", "/metrics")):
            assert answer.status_code == 401, path
            assert answer.headers["www-authenticate"] == "Bearer"
        else:
            assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/sign-in"), path
    for path in open_paths:
        assert visitor.get(path).is_success


def test_the_way_to_the_sign_in_leads_back(visitor: TestClient) -> None:
    answer = visitor.get("/?state=running&pr=7")
    assert answer.headers["location"] == "/sign-in?next=%2F%3Fstate%3Drunning%26pr%3D7"


@pytest.mark.parametrize("scope", [Scope.READ, Scope.OPERATE, Scope.ADMIN])
def test_a_token_that_may_read_reads(visitor: TestClient, closed: FastAPI, scope: Scope) -> None:
    token = make(closed.state.relay, scope)
    for path in ("/api/v1/runs", "/"):
        assert visitor.get(path).status_code != 200
        assert visitor.get(path, headers=bearer(token)).status_code == 200


def test_a_workers_token_reads_nothing_more_than_its_work(visitor: TestClient, worker_auth: dict[str, str]) -> None:
    assert visitor.get("/api/v1/runs", headers=worker_auth).status_code == 403


def test_who_is_signed_in_reads_the_api_as_well(visitor: TestClient) -> None:
    """The page's own script does."""
    sign_in(visitor)
    assert visitor.get("/api/v1/runs").is_success
    assert visitor.get("/").is_success


def test_a_cookie_changes_nothing_through_the_api(client: TestClient, context: RelayContext) -> None:
    """A browser sends it by itself, a bearer token it does not."""
    run_id = arrive(context.store)
    sign_in(client)
    assert client.post(f"/api/v1/runs/{run_id}/cancel").status_code == 401
    assert client.get("/api/v1/tokens").status_code == 401


def test_public_reading_ignores_a_wrong_token(client: TestClient) -> None:
    assert client.get("/api/v1/runs", headers=bearer("relay_wrong")).is_success
