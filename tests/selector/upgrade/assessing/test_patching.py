"""With results of both releases the patch also requires what the upgrade fixed, where an entry expects a failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from selector.manifests import ManifestDocument
from selector.manifests.authoring.results import Naming, Observation, ObservedTest
from selector.upgrade.assessing.patching import propose_patch
from selector.upgrade.types import (
    OpInfoDifference,
    OutcomeDifference,
    OutcomeKind,
    TestChange,
    TestDifference,
    UpgradeOutcome,
    UpgradeReport,
)
from tests.selector.upgrade.sides import CLASS, FILE, changed, manifest, named

_AT = datetime(2026, 5, 4, tzinfo=UTC)
_METHODS = ("test_add", "test_mul")
_NAMES = Naming("spyre", lambda _: frozenset(_METHODS))
_XFAIL = manifest("- names: [test_add, test_mul]\n  mode: xfail")


def seen(method: str, word: str, at: datetime | None = _AT) -> ObservedTest:
    test, known = _NAMES.identify(FILE, [f"{CLASS}SPYRE"], f"{method}_spyre")
    return ObservedTest(test, Observation(word), at=at, base_known=known)


def patch(document: ManifestDocument, attempts: Sequence[ObservedTest], kind: OutcomeKind) -> list[str]:
    """What the patch tells, removes and adds when every test that passed ended so."""
    same = TestDifference(tuple(changed(method, TestChange.UNCHANGED) for method in _METHODS), 1, 1)
    outcomes = tuple(
        UpgradeOutcome(one.id, named(one.base), kind, "failed", "passed", "")
        for one in attempts
        if one.observation is Observation.PASSED
    )
    report = UpgradeReport("1", "2", "spyre", same, OpInfoDifference((), 0, 0), (), ())
    found = propose_patch(replace(report, outcomes=OutcomeDifference(outcomes)), [document], attempts).splitlines()
    return [line for line in found if line.startswith(("+", "-", "#")) and not line.startswith(("+++", "---"))]


def test_what_the_upgrade_fixed_is_required_and_why_is_told() -> None:
    told, *lines = patch(_XFAIL, [seen("test_add", "passed"), seen("test_mul", "failed")], OutcomeKind.FIXED)
    assert told.startswith(f"# {_XFAIL.name}:")
    assert "require test_add, which passed" in told
    assert "-        - names: [test_add, test_mul]" in lines
    assert any(line.startswith("+") and "test_mul" in line and "test_add" not in line for line in lines)
    assert any(line.startswith("+") and "test_add" in line for line in lines)


@pytest.mark.parametrize("kind", [OutcomeKind.FLAKY, OutcomeKind.MEANING])
def test_what_passes_for_another_reason_stays(kind: OutcomeKind) -> None:
    assert patch(_XFAIL, [seen("test_add", "passed")], kind) == []


def test_a_result_without_a_date_proposes_nothing_and_says_so() -> None:
    attempts = [seen("test_add", "passed", at=None)]
    assert patch(_XFAIL, attempts, OutcomeKind.FIXED) == [
        "# 1 result has no date, so it is not proposed to require what passed there"
    ]


def test_a_required_test_needs_no_edit() -> None:
    document = manifest("- names: [test_add]")
    assert patch(document, [seen("test_add", "passed")], OutcomeKind.FIXED) == []
