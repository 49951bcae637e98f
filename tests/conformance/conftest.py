"""A relay for each row, in the modes that the row is shown in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from relay.allowlist.providers import Providers, parse_providers
from relay.settings import RelaySettings
from tests.conformance.building import building, conformance_settings_in
from tests.conformance.hud_stand_in import Hud, hud_application
from tests.conformance.rows import DIFFER
from tests.conformance.tokens import Tokens
from tests.conformance.world import World
from tests.relay.serving import serving
from tests.setups import SqliteFiles


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
    """A module overrides this fixture to have others."""
    return conformance_settings_in(tmp_path, f"{_served_hud.url}/api", strict=strict)


@pytest.fixture
def world(
    conformance_settings: RelaySettings,
    providers: Providers,
    sqlite_files: SqliteFiles,
    _served_hud: _Served,
    _signing: Tokens,
) -> Iterator[World]:
    """The relay and everything around it, as if for the first time."""
    sqlite_files.make_ready(conformance_settings)
    with building(conformance_settings, _served_hud.hud, _signing, lambda: providers) as found:
        yield found
