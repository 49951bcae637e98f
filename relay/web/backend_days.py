"""The days of a backend, or of several, as charts and in words. Pure; each chart's figures are in the table beside
it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.hud.counting import share
from relay.hud.daily import DayCounts
from relay.hud.wording import percent
from relay.web import backend_words as words
from relay.web.charts import Chart, Figure, bar_chart, line_chart
from relay.web.wording import number


@dataclass(frozen=True, slots=True)
class Days:
    """How jobs passed and failed over time, and how many there were; `counts` are the newest day first."""

    passed: Chart
    failed: Chart
    ran: Chart
    counts: tuple[DayCounts, ...]


def day_charts(counts: Sequence[DayCounts]) -> Days | None:
    """None of less than two days: one point is no course."""
    if len(counts) < 2:
        return None
    failed = [Figure(one.day, float(_broken(one)), failed_sentence(one)) for one in counts]
    ran = [Figure(one.day, float(one.total), ran_sentence(one)) for one in counts]
    return Days(
        passed=line_chart(_label(counts), [_passed(one) for one in counts], _percent, top=1.0),
        failed=bar_chart(
            f"Failed and timed-out jobs a day, {_broken_in_all(counts)} in all", failed, _whole, whole=True
        ),
        ran=bar_chart(
            f"Finished jobs a day, {number(sum(one.total for one in counts))} in all", ran, _whole, whole=True
        ),
        counts=tuple(reversed(counts)),
    )


def _passed(one: DayCounts) -> Figure:
    rate = share(one.successes, one.total)
    text = f"{one.day.isoformat()}: {words.counted_rate(one.successes, one.total)} passed"
    return Figure(one.day, rate, text, bad=words.overview_rate(rate).tone == "bad")


def failed_sentence(one: DayCounts) -> str:
    """A day's failures, in words."""
    return f"{one.day.isoformat()}: {number(one.failures)} failed, {number(one.timed_out)} timed out"


def ran_sentence(one: DayCounts) -> str:
    """How many jobs of a day finished, in words."""
    return f"{one.day.isoformat()}: {number(one.total)} finished"


def in_all(counts: Sequence[DayCounts]) -> str:
    """`91.2 % (83 of 91) passed, 6 failed, 2 timed out` of all these days."""
    sums = [sum(figures) for figures in zip(*map(_figures, counts), strict=True)]
    successes, failures, timed_out, total = sums or (0, 0, 0, 0)
    rate = words.counted_rate(successes, total)
    return f"{rate} passed, {number(failures)} failed, {number(timed_out)} timed out"


def _figures(one: DayCounts) -> tuple[int, int, int, int]:
    return one.successes, one.failures, one.timed_out, one.total


def _label(counts: Sequence[DayCounts]) -> str:
    first, last = counts[0], counts[-1]
    rates = [words.counted_rate(one.successes, one.total) for one in (first, last)]
    return f"Pass rate by day, from {rates[0]} on {first.day.isoformat()} to {rates[1]} on {last.day.isoformat()}"


def _broken(one: DayCounts) -> int:
    return one.failures + one.timed_out


def _broken_in_all(counts: Sequence[DayCounts]) -> str:
    return number(sum(map(_broken, counts)))


def _percent(value: float) -> str:
    return percent(value).replace(".0 ", " ")


def _whole(value: float) -> str:
    return number(round(value))
