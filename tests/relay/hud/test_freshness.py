"""Declared cadences of backends, and who is late by them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from relay.hud.freshness import Cadences
from relay.settings import RelaySettings
from tests.relay.hud.told import NOW

_HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("written", "declared"),
    [
        ("", {}),
        ("a/b=24h", {("a/b", "nightly"): 24 * _HOUR}),
        (" A/b=1h , c/d.e-f:periodic=9999h", {("a/b", "nightly"): _HOUR, ("c/d.e-f", "periodic"): 9_999 * _HOUR}),
        ("a/b=1h,", {("a/b", "nightly"): _HOUR}),
        ("a/b:nightly=1h,a/b=2h", {("a/b", "nightly"): 2 * _HOUR}),
    ],
)
def test_cadences_are_read_from_the_setting(written: str, declared: dict[tuple[str, str], timedelta]) -> None:
    assert Cadences.read(RelaySettings(crcr_cadences=written).crcr_cadences).declared == declared


@pytest.mark.parametrize(
    "written",
    ["a=24h", "a/b", "a/b=24", "a/b=0h", "a/b=-1h", "a/b=1.5h", "a/b:weekly=1h", "a/b=1h c/d=1h", "a/b/c=1h", ","],
)
def test_what_is_no_cadence_stops_the_service_from_starting(written: str) -> None:
    with pytest.raises(ValidationError, match="crcr_cadences"):
        RelaySettings(crcr_cadences=written)


@pytest.mark.parametrize(
    ("event", "hours", "stale"),
    [("nightly", 8.9, False), ("nightly", 9, True), ("periodic", 3, True), ("push", 1_000, False)],
)
def test_a_report_may_be_late_by_half_its_cadence(event: str, hours: float, stale: bool) -> None:
    cadences = Cadences.read("A/B=6h, a/b:periodic=2h")
    assert cadences.is_stale("a/b", event, NOW - hours * _HOUR, NOW) is stale


def test_only_a_nightly_is_expected_of_a_backend_that_declares_nothing() -> None:
    assert Cadences().of("a/b", "nightly") == 24 * _HOUR
    assert Cadences().of("a/b", "periodic") is None
