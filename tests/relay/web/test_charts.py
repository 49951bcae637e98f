"""A chart puts every value in its place by date and size, says it in words, and leaves a gap where there is none."""

from __future__ import annotations

from datetime import date, timedelta

from relay.web.charts import HEIGHT, WIDTH, Figure, bar_chart, line_chart

START = date(2026, 11, 1)


def figure(day: int, value: float | None, *, bad: bool = False) -> Figure:
    return Figure(START + timedelta(days=day), value, f"day {day}", bad)


def percent(value: float) -> str:
    return f"{value:.0%}"


def test_values_stand_by_date_and_size() -> None:
    chart = line_chart("Recall", [figure(0, 0.0), figure(1, 0.5), figure(4, 1.0)], percent, top=1.0)
    left, middle, right = chart.marks
    assert (left.x, left.y) == (chart.left, chart.base)
    assert right.x == chart.right
    assert middle.x - left.x == (right.x - left.x) / 4
    assert right.y < middle.y < left.y
    assert [tick.word for tick in chart.upward] == ["0%", "25%", "50%", "75%", "100%"]
    assert chart.across[-1].word == "2026-11-05"
    assert [mark.text for mark in chart.marks] == ["day 0", "day 1", "day 4"]


def test_a_missing_value_parts_the_line() -> None:
    values = [0.1, 0.2, None, 0.3, 0.4, 0.5, None, 0.6]
    chart = line_chart("x", [figure(day, value) for day, value in enumerate(values)], percent)
    assert [len(line.split()) for line in chart.lines] == [2, 3]
    assert len(chart.marks) == 6


def test_the_scale_ends_at_the_largest_value_and_nothing_leaves_the_picture() -> None:
    for values in ([0.0], [0.0, 0.0], [5.0], [3.0, 12.0, 7.0], [2.0] * 400):
        figures = [figure(day, value) for day, value in enumerate(values)]
        for chart in (line_chart("x", figures, percent), bar_chart("x", figures, percent)):
            for mark in chart.marks:
                assert 0 <= mark.x <= mark.x + mark.width <= WIDTH
                assert 0 <= mark.y <= mark.y + mark.height <= HEIGHT


def test_levels_are_round_and_few() -> None:
    for largest, words in (
        (4.88, "0 1 2 3 4 5"),
        (12, "0 2.5 5 7.5 10 12.5"),
        (0.3, "0 0.1 0.2 0.3"),
        (1000, "0 200 400 600 800 1000"),
    ):
        chart = bar_chart("x", [figure(0, largest)], "{:g}".format)
        assert " ".join(tick.word for tick in chart.upward) == words
    for count, words in (
        (0, "0 1"),
        (1, "0 1"),
        (3, "0 1 2 3"),
        (6, "0 2 4 6"),
        (12, "0 5 10 15"),
        (130, "0 50 100 150"),
    ):
        chart = bar_chart("x", [figure(0, count)], "{:g}".format, whole=True)
        assert " ".join(tick.word for tick in chart.upward) == words
    hours = bar_chart("x", [figure(0, 4.88 * 3600)], lambda value: f"{value / 3600:g} h", unit=3600)
    assert hours.upward[-1].word == "5 h"


def test_bars_grow_from_the_base_and_keep_within_their_day() -> None:
    chart = bar_chart("x", [figure(day, float(day + 1)) for day in range(30)], percent)
    assert all(mark.y + mark.height == chart.base for mark in chart.marks)
    assert chart.marks[2].x - chart.marks[1].x > chart.marks[1].width


def test_bad_values_are_told_apart() -> None:
    chart = line_chart("x", [figure(0, 0.5, bad=True), figure(1, 1.0)], percent)
    assert [mark.bad for mark in chart.marks] == [True, False]


def test_without_figures_there_are_axes_only() -> None:
    chart = line_chart("Recall", [], percent, top=1.0)
    assert (chart.marks, chart.lines, chart.across, len(chart.upward)) == ((), (), (), 5)
    assert bar_chart("Saved", [], percent).marks == ()
