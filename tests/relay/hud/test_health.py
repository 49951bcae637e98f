"""The health of the relay by its probe."""

from __future__ import annotations

from typing import Any

import pytest

from relay.hud.health import Health, nightly_health, passed_runs, relay_health
from tests.relay.hud.cells import S1, S2, cell


def _pull(pass_rate: float = 1.0, overdue: int = 0) -> dict[str, Any]:
    return {"pass_rate": pass_rate, "overdue": overdue}


@pytest.mark.parametrize(
    ("rows", "health"),
    [
        ([], Health.NO_DATA),
        ([_pull()] * 5, Health.HEALTHY),
        ([_pull(), _pull(0.9)], Health.DEGRADED),
        ([_pull(), _pull(overdue=1)], Health.DEGRADED),
        ([_pull()] * 5 + [_pull(0)], Health.HEALTHY),
    ],
)
def test_the_last_five_pull_requests_must_have_gone_as_meant(rows: list[dict[str, Any]], health: Health) -> None:
    assert relay_health(rows) is health


@pytest.mark.parametrize(
    ("rows", "health"),
    [
        ([], Health.NO_DATA),
        ([cell(), cell("b-xfail", "failure")], Health.HEALTHY),
        ([cell(), cell("b", None)], Health.DEGRADED),
        ([cell(), cell("b-xfail", "cancelled")], Health.DEGRADED),
        ([cell(), cell(pytorch_head_sha=S2, conclusion="failure")], Health.DEGRADED),
    ],
)
def test_every_job_of_the_last_runs_must_have_ended_as_meant(rows: list[dict[str, Any]], health: Health) -> None:
    assert nightly_health(rows) is health


def test_only_the_last_five_runs_are_judged() -> None:
    rows = [cell(pytorch_head_sha=str(number) * 40, conclusion="success") for number in range(5)]
    assert nightly_health([*rows, cell(pytorch_head_sha="9" * 40, conclusion="failure")]) is Health.HEALTHY


def test_runs_are_judged_one_by_one() -> None:
    rows = [cell(pytorch_head_sha=S2), cell("b", None, pytorch_head_sha=S2), cell()]
    assert passed_runs(rows) == {f"sha:{S2}": False, f"sha:{S1}": True}
