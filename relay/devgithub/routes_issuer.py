"""Routes of the issuer of tokens: its keys, and the mint that a job asks.

With GitHub both are other hosts; the mint is what `ACTIONS_ID_TOKEN_REQUEST_URL` leads to.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from relay.devgithub.access import State
from relay.devgithub.bodies import Json
from relay.devgithub.oidc import AUDIENCE
from relay.devgithub.workflow_runs import find_run

router = APIRouter()


@router.get("/.well-known/openid-configuration")
def configuration(state: State) -> Json:
    """Where the keys are."""
    return state.oidc.configuration()


@router.get("/.well-known/jwks")
def key_set(state: State) -> Json:
    """The keys."""
    return dict(state.oidc.key_set())


@router.get("/_dev/token")
def token(
    repository: Annotated[str, Query(pattern="^[^/]+/[^/]+$")], state: State, run_id: int = 0, audience: str = AUDIENCE
) -> Json:
    """A token of a job in a run of this repository (0: of no run that is known), in the form of GitHub's mint."""
    known = state.repository(repository)
    run = find_run(known, run_id) if run_id else None
    value = state.oidc.mint(
        known.full_name,
        audience=audience,
        run_id=run.id if run else state.next_id(),
        run_attempt=run.attempt if run else 1,
    )
    return {"count": len(value), "value": value}
