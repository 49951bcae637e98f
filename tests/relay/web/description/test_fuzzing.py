"""Whatever is asked of the API, it answers as its description says: schemathesis finds nothing, with any token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.access.scopes import opens
from relay.access.tokens import create_token
from relay.access_views import Scope
from relay.app import create_app
from relay.parts import CrcrParts, TokenRefusedError, VerifiedClaims
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from tests.benchmarks.seed import seed
from tests.benchmarks.seed_rows import Size
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conftest import MakeDatabase
from tests.relay.web.description.fuzzing import ENDLESS, Found, explore
from tests.relay.web.readers import ALLOWLIST

#: Enough of everything that lists have pages; small, for each request may read it.
_SIZE = Size(runs=20, tests=6, considered=8, reports=60, deliveries=10)
_EXAMPLES = 4
_CHAINS = 12
_NUMBERS = count(1)
_MANIFESTS = Path(__file__).parents[4] / "test_manifests"


class _NobodysVerifier:
    """No CI job is known here."""

    def verify(self, authorization: str | None) -> VerifiedClaims:
        raise TokenRefusedError("Missing authorization token")

    def close(self) -> None:
        """There is nothing to close."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, make_postgres_database: MakeDatabase) -> Iterator[FastAPI]:
    """A relay with everything that can be asked for, where reading takes a token. On PostgreSQL, which takes less than
    SQLite does: no NUL in a text, no number beyond its column."""
    settings = RelaySettings(
        state_dir=tmp_path_factory.mktemp("state"),
        manifest_dir=_MANIFESTS,
        database_url=make_postgres_database("ready"),
        read_access="token",
        worker_token=SecretStr("worker-token-for-tests"),
        operator_token=SecretStr("operator-token-for-tests"),
        webhook_secret=SecretStr("webhook-secret-for-tests"),
        hud_intake_key=SecretStr("intake-key-for-tests"),
    )
    parts = CrcrParts(AllowlistStandIn(utc_now, text=ALLOWLIST), _NobodysVerifier(), GitHubStandIn())
    # What happens in the background would go on behind the test's back.
    application = create_app(settings, crcr=parts, answers_only=True)
    seed(application.state.relay.store, _SIZE, utc_now())
    yield application
    application.state.live.events.close()
    application.state.relay.close()


def _token(app: FastAPI, scope: Scope) -> str:
    context = app.state.relay
    with context.store.writing() as session:
        made = create_token(
            session, f"{scope} {next(_NUMBERS)}", scope, context.now(), expires_at=None, created_by="a test"
        )
    return made.token


def _scope(operation: dict[str, Any]) -> Scope | None:
    """What the description says opens an operation, None for what is open or asks for something else."""
    doors = operation.get("security") or [{}]
    roles = doors[0].get("token", ())
    return Scope(roles[0]) if roles else None


def _operations(app: FastAPI) -> Iterator[tuple[str, Scope | None]]:
    """Every operation that ends by itself, and the least scope that opens it."""
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            if not path.endswith(ENDLESS):
                yield f"{method.upper()} {path}", _scope(operation)


def _no_faults(found: Found) -> None:
    assert not found.faults, "\n\n".join(f"{what}\n{fault}" for what, fault in found.faults.items())


@pytest.mark.parametrize("scope", [*Scope, None])
def test_the_api_answers_as_it_is_described(app: FastAPI, scope: Scope | None) -> None:
    """Each operation with the least token that opens it, and the open ones without any."""
    mine = {label for label, needs in _operations(app) if needs is scope}
    found = explore(app, _token(app, scope) if scope else "", mine, examples=_EXAMPLES)
    _no_faults(found)
    assert mine
    assert found.asked >= mine
    assert found.requests > 5 * len(mine)


def test_what_follows_from_an_answer_is_answered_as_described(app: FastAPI) -> None:
    """One request names what another made or listed: a run that was opened is asked for, cancelled, run again."""
    mine = {label for label, needs in _operations(app) if needs is not Scope.WORKER}
    found = explore(app, _token(app, Scope.ADMIN), mine, examples=_CHAINS, chains=True)
    _no_faults(found)
    assert len(found.asked) > len(mine) / 4


@pytest.mark.parametrize("scope", [*Scope, None])
def test_a_token_opens_what_the_description_says_and_nothing_else(app: FastAPI, scope: Scope | None) -> None:
    """401 without one, 403 with one that is too small, and neither with one that is large enough."""
    headers = {"Authorization": f"Bearer {_token(app, scope)}"} if scope else {}
    client = TestClient(app, headers=headers)
    for label, needs in _operations(app):
        method, _, path = label.partition(" ")
        if needs is not None:
            status = client.request(method, re.sub(r"\{\w+\}", "1", path)).status_code
            refused = {401} if scope is None else set() if opens(scope, needs) else {403}
            assert {status} & {401, 403} == refused, (label, status)
