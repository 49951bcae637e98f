"""Makes the world of a row: settings, the outside's stand-ins, the application. Also for programs that are no tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.allowlist.providers import Providers, parse_providers
from relay.app import create_app
from relay.oidc.verifier import OidcVerifier
from relay.parts import CrcrParts
from relay.settings import RelaySettings
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.hud_stand_in import KEY, Hud
from tests.conformance.tokens import Tokens
from tests.conformance.world import Clock, World
from tests.relay.serving import serving


def conformance_settings_in(folder: Path, hud_url: str, *, strict: bool) -> RelaySettings:
    """Settings of a relay for pytorch/pytorch that forwards to an external HUD and keeps everything in a folder."""
    manifests = folder / "manifests"
    manifests.mkdir()
    return RelaySettings(
        state_dir=folder / "state",
        manifest_dir=manifests,
        worker_token=SecretStr("worker-token-for-tests"),
        operator_token=SecretStr("operator-token-for-tests"),
        webhook_secret=SecretStr("webhook-secret-for-tests"),
        github_app_id=4711,
        allowlist_url="https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml",
        hud_url=hud_url,
        hud_key=SecretStr(KEY),
        hud_intake_key=SecretStr("key-of-our-own-results"),
        crcr_strict_compat=strict,
    )


@contextmanager
def building(
    settings: RelaySettings, hud: Hud, tokens: Tokens, providers: Callable[[], Providers] = lambda: parse_providers("")
) -> Iterator[World]:
    """A relay and everything around it, as if for the first time."""
    hud.reset()
    tokens.down = False
    clock, github, strict = Clock(), GitHubStandIn(), settings.crcr_strict_compat
    allowlist = AllowlistStandIn(clock)
    verifier = OidcVerifier(providers, strict=strict, transport=tokens.transport, now=clock, clock=clock.seconds)
    app = create_app(settings, crcr=CrcrParts(allowlist, verifier, github), now=clock)
    context = app.state.relay
    yield World(
        context=context,
        client=TestClient(app, raise_server_exceptions=False),
        clock=clock,
        github=github,
        hud=hud,
        allowlist=allowlist,
        tokens=tokens,
        strict=strict,
    )
    if context.outbox is not None:
        context.outbox.stop()
    app.state.live.events.close()
    context.close()


@contextmanager
def serving_callbacks(world: World) -> Iterator[tuple[str, list[int]]]:
    """The relay's callback behind a socket, for programs that report; and the statuses it answered with."""
    statuses: list[int] = []
    proxy = FastAPI()

    @proxy.post("/github/callback")
    async def forward(request: Request) -> Response:
        headers = {"Authorization": request.headers["authorization"]}
        answer = world.callback(await request.body(), token="", headers=headers)
        statuses.append(answer.status_code)
        return Response(answer.content, answer.status_code, media_type="application/json")

    with serving(proxy) as url:
        yield f"{url}/github/callback", statuses
