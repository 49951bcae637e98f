"""Who may rise to L3 and who falls from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from relay.allowlist.types import Backend, Level
from relay.hud.figures import Figures
from relay.hud.levels import as_answer, level_statuses
from relay.hud.readiness import Change, LevelStatus, Tenure, level_status
from relay.store.engine import Store
from tests.relay.hud.told import NOW, told

_GOOD = Figures("a/x", 91, 9, 0, 100, 10, 1_799.0, 60.0, 60.0, 0.0, 3 * 3_600 - 1, 3 * 3_600)
_LONG = Tenure(NOW - timedelta(days=30), NOW - timedelta(days=14), NOW)
_MISSES = [
    {"successes": 90},
    {"timed_out": 1},
    {"overrun_rate": 0.01},
    {"median_e2e_time_s": 3 * 3_600},
    {"avg_queue_time_s": 1_800.0},
]


def _status(level: Level, figures: Figures | None, tenure: Tenure = _LONG) -> LevelStatus:
    found = {} if figures is None else {"a/x": figures}
    return level_status(Backend("A/x", level), found, {"a/x": tenure}, NOW)


def test_a_backend_that_meets_every_target_rises_and_does_not_fall() -> None:
    assert (_status(Level.L2, _GOOD).change, _status(Level.L2, _GOOD).window_days) == (Change.PROMOTE, 14)
    assert (_status(Level.L3, _GOOD).change, _status(Level.L3, _GOOD).window_days) == (None, 7)


@pytest.mark.parametrize("miss", _MISSES)
def test_one_missed_target_keeps_a_backend_down(miss: dict[str, Any]) -> None:
    """Each target is strict: what is exactly at it has missed it."""
    missed = replace(_GOOD, **miss)
    assert _status(Level.L2, missed).change is None
    assert _status(Level.L3, missed).change is Change.DEMOTE
    assert [one.met for one in _status(Level.L3, missed).criteria].count(False) == 1


@pytest.mark.parametrize(
    "tenure",
    [
        Tenure(),
        Tenure(NOW - timedelta(days=29), NOW - timedelta(days=29), NOW),
        Tenure(None, NOW - timedelta(days=90), NOW),
        Tenure(NOW - timedelta(days=30), NOW - timedelta(days=30), NOW - timedelta(days=15)),
        Tenure(NOW - timedelta(days=30), NOW - timedelta(days=13), NOW),
    ],
)
def test_nobody_rises_without_time_at_its_level_and_recent_data(tenure: Tenure) -> None:
    assert _status(Level.L2, _GOOD, tenure).change is None
    assert _status(Level.L3, _GOOD, tenure).change is None


def test_silence_moves_nobody() -> None:
    for level in (Level.L2, Level.L3):
        status = _status(level, None)
        assert (status.change, status.no_data) == (None, True)
        assert all(one.met is None and one.measured == "no data" for one in status.criteria[:5])


def test_what_was_never_measured_is_no_miss_and_no_proof() -> None:
    """Results that tell no times, as those of a CI without a dispatch."""
    timeless = replace(_GOOD, avg_queue_time_s=None, median_e2e_time_s=None)
    assert _status(Level.L3, timeless).change is None
    assert _status(Level.L2, timeless).change is None


def test_the_answer_is_in_the_words_of_the_job_that_opens_demotions(store: Store) -> None:
    """The last days of a backend that just began to fail, told from the record."""
    for day in range(14):
        told(
            store,
            "failure" if day < 2 else "success",
            repo="a/l3",
            level="L3",
            ago=timedelta(days=day, hours=1),
            pr=day + 1,
        )
    backends = [
        Backend("a/l2", Level.L2),
        Backend("a/l3", Level.L3),
        Backend("a/l1", Level.L1),
        Backend("a/l4", Level.L4),
    ]
    with store.reading() as session:
        answer = as_answer(level_statuses(session, backends, NOW))
    third, second = answer["repos"]
    assert {
        "repo": "a/l3",
        "level": "L3",
        "change": "demote",
        "noData": False,
        "windowDays": 7,
    }.items() <= third.items()
    assert third["criteria"][0] == {"criterion": "Pass rate", "measured": "71.4 %", "target": "> 90 %", "met": False}
    assert (second["repo"], second["change"], second["noData"], second["windowDays"]) == ("a/l2", None, True, 14)


def test_a_backend_with_a_month_of_good_results_rises(store: Store) -> None:
    for day in range(31):
        told(store, ago=timedelta(days=day, hours=1), pr=day + 1, queue_time=5, execution_time=9, run_id=str(day))
    with store.reading() as session:
        (status,) = level_statuses(session, [Backend("A/L2", Level.L2)], NOW)
    assert status.change is Change.PROMOTE, status.criteria
