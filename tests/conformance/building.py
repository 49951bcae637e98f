"""Makes the world of a row: settings, the outside's stand-ins, the application. Also for programs that are no tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.allowlist.providers import Providers, parse_providers
from relay.app import create_app
from relay.crcr.parts import CrcrParts
from relay.oidc.verifier import OidcVerifier
from relay.settings import RelaySettings
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.hud_stand_in import KEY, Hud
from tests.conformance.tokens import Tokens
from tests.conformance.world import Clock, World


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
    verifier.close()
    context.waker.close()
    context.store.engine.dispose()
