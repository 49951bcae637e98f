"""The course of a backend has its figures in words, and a bad day another shape."""

from __future__ import annotations

from datetime import date

from relay.hud.daily import DayCounts
from relay.web.backend_days import day_charts

FIRST = DayCounts(date(2026, 11, 1), 9, 1, 0, 10)
SECOND = DayCounts(date(2026, 11, 2), 1, 1, 2, 4)


def test_one_day_is_no_course() -> None:
    assert day_charts(()) is None
    assert day_charts((FIRST,)) is None


def test_every_mark_has_its_counts_and_a_bad_day_its_shape() -> None:
    found = day_charts((FIRST, SECOND))
    assert found is not None
    assert [mark.text for mark in found.passed.marks] == [
        "2026-11-01: 90.0 % (9 of 10) passed",
        "2026-11-02: 25.0 % (1 of 4) passed",
    ]
    assert [mark.bad for mark in found.passed.marks] == [False, True]
    assert [mark.text for mark in found.failed.marks][1] == "2026-11-02: 1 failed, 2 timed out"
    assert found.failed.label == "Failed and timed-out jobs a day, 4 in all"
    assert "from 90.0 % (9 of 10) on 2026-11-01 to 25.0 % (1 of 4)" in found.passed.label


def test_the_table_has_the_newest_day_first_and_the_axis_whole_percents() -> None:
    found = day_charts((FIRST, SECOND))
    assert found is not None
    assert found.counts == (SECOND, FIRST)
    assert [tick.word for tick in found.passed.upward] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
