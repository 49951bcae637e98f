"""A relay for each row, in the modes that the row is shown in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from relay.allowlist.providers import Providers, parse_providers
from relay.app import create_app
from relay.crcr.parts import CrcrParts
from relay.oidc.verifier import OidcVerifier
from relay.settings import RelaySettings
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.hud_stand_in import KEY, Hud, hud_application
from tests.conformance.rows import DIFFER
from tests.conformance.tokens import Tokens
from tests.conformance.world import Clock, World
from tests.relay.serving import serving


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A row that differs by mode is shown in both."""
    if "strict" not in metafunc.fixturenames:
        return
    marks = metafunc.definition.iter_markers("row")
    differs = any(row in DIFFER for mark in marks for row in mark.args)
    differs = differs or metafunc.definition.get_closest_marker("both_modes") is not None
    metafunc.parametrize("strict", [False, True] if differs else [False], ids=str_of_mode)


def str_of_mode(strict: bool) -> str:
    """How a mode is called in a test's id."""
    return "strict" if strict else "ours"


@dataclass
class _Served:
    hud: Hud
    url: str


@pytest.fixture(scope="session")
def _served_hud() -> Iterator[_Served]:
    hud = Hud()
    with serving(hud_application(hud)) as url:
        yield _Served(hud, url)


@pytest.fixture(scope="session")
def _signing() -> Tokens:
    return Tokens()


@pytest.fixture
def providers() -> Providers:
    """The CI providers in force; a module overrides this fixture to have others."""
    return parse_providers("")


@pytest.fixture
def conformance_settings(tmp_path: Path, _served_hud: _Served, strict: bool) -> RelaySettings:
    """A relay for pytorch/pytorch that forwards to an external HUD."""
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    return RelaySettings(
        state_dir=tmp_path / "state",
        manifest_dir=manifests,
        worker_token=SecretStr("worker-token-for-tests"),
        operator_token=SecretStr("operator-token-for-tests"),
        webhook_secret=SecretStr("webhook-secret-for-tests"),
        github_app_id=4711,
        allowlist_url="https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml",
        hud_url=f"{_served_hud.url}/api",
        hud_key=SecretStr(KEY),
        hud_intake_key=SecretStr("key-of-our-own-results"),
        crcr_strict_compat=strict,
    )


@pytest.fixture
def world(
    conformance_settings: RelaySettings, providers: Providers, _served_hud: _Served, _signing: Tokens, strict: bool
) -> Iterator[World]:
    """The relay and everything around it, as if for the first time."""
    _served_hud.hud.reset()
    _signing.down = False
    clock, github = Clock(), GitHubStandIn()
    allowlist = AllowlistStandIn(clock)
    verifier = OidcVerifier(
        lambda: providers, strict=strict, transport=_signing.transport, now=clock, clock=clock.seconds
    )
    app = create_app(conformance_settings, crcr=CrcrParts(allowlist, verifier, github), now=clock)
    context = app.state.relay
    yield World(
        context=context,
        client=TestClient(app, raise_server_exceptions=False),
        clock=clock,
        github=github,
        hud=_served_hud.hud,
        allowlist=allowlist,
        tokens=_signing,
        strict=strict,
    )
    verifier.close()
    context.waker.close()
    context.store.engine.dispose()
