"""Charts as plain geometry, drawn by `charts.html` as SVG: lines and bars over days, with axes, a text for each mark.

Pure. A chart is never the only form of its figures: the page has them in a table too. Units are those of the view box,
which is narrow, so that the words stay readable on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

WIDTH, HEIGHT = 400, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 10, 12, 26
_BASE = HEIGHT - _BOTTOM
#: So many levels at most, a round number apart.
_LEVELS = 5
_ROUND = (1, 2, 2.5, 5, 10)
#: A bar is never wider, however few there are.
_WIDEST_BAR = 28.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A value of a day, None where there is none; `text` says it in words. A `bad` one is drawn in another shape."""

    day: date
    value: float | None
    text: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A drawn value: a point, or the top left corner of a bar of that width and height."""

    x: float
    y: float
    width: float
    height: float
    text: str
    bad: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A word on an axis and its place along it."""

    at: float
    word: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart ready to be drawn. `label` is its text alternative; `lines` are the points of polylines."""

    label: str
    marks: tuple[Mark, ...]
    lines: tuple[str, ...]
    across: tuple[Tick, ...]
    upward: tuple[Tick, ...]
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    base: int = _BASE
    width: int = WIDTH
    height: int = HEIGHT


def line_chart(
    label: str, figures: Sequence[Figure], form: Callable[[float], str], *, top: float | None = None
) -> Chart:
    """Values over days, joined where none is missing in between. `top` is the end of the scale, by default a round
    number above the largest value; `form` writes a value on the axis."""
    levels = [top * quarter / 4 for quarter in range(5)] if top is not None else _round_levels(figures, 1.0)
    scale, places = levels[-1], _places(figures)
    marks: list[Mark] = []
    lines: list[str] = []
    for there, run in groupby(zip(figures, places, strict=True), key=lambda pair: pair[0].value is not None):
        if not there:
            continue
        points = [Mark(x, _height(one.value or 0.0, scale), 0, 0, one.text, one.bad) for one, x in run]
        marks += points
        if len(points) > 1:
            lines.append(" ".join(f"{point.x:.1f},{point.y:.1f}" for point in points))
    return Chart(label, tuple(marks), tuple(lines), _days(figures, places), _upward(levels, form))


def bar_chart(
    label: str, figures: Sequence[Figure], form: Callable[[float], str], *, unit: float = 1.0, whole: bool = False
) -> Chart:
    """A bar for each day that has a value. Levels are a round number of `unit`s apart, of which there are no parts
    where the values are `whole`."""
    levels, places = _round_levels(figures, unit, whole=whole), _places(figures)
    scale = levels[-1]
    width = min(_WIDEST_BAR, 0.8 * (WIDTH - _LEFT - _RIGHT) / _span(figures))
    marks = []
    for one, x in zip(figures, places, strict=True):
        if one.value is not None:
            y = _height(one.value, scale)
            left = min(max(x - width / 2, _LEFT), WIDTH - _RIGHT - width)
            marks.append(Mark(left, y, width, _BASE - y, one.text, one.bad))
    return Chart(label, tuple(marks), (), _days(figures, places), _upward(levels, form))


def _round_levels(figures: Sequence[Figure], unit: float, *, whole: bool = False) -> list[float]:
    """From nothing to the largest value or above."""
    largest = max((one.value for one in figures if one.value is not None), default=0.0) / unit or 1.0
    power = 10.0 ** math.floor(math.log10(largest / _LEVELS))
    steps = (power * part for part in _ROUND if power * part * _LEVELS >= largest)
    step = max(1.0, next(step for step in steps if step <= 1 or step == int(step))) if whole else next(steps)
    return [unit * step * level for level in range(math.ceil(round(largest / step, 9)) + 1)]


def _span(figures: Sequence[Figure]) -> int:
    return (figures[-1].day - figures[0].day).days + 1 if figures else 1


def _places(figures: Sequence[Figure]) -> list[float]:
    """Along the axis by date, so that a gap of days is a gap; a single one stands in the middle."""
    room = WIDTH - _LEFT - _RIGHT
    if _span(figures) == 1:
        return [_LEFT + room * (number + 1) / (len(figures) + 1) for number in range(len(figures))]
    first, days = figures[0].day, _span(figures) - 1
    return [_LEFT + room * (one.day - first).days / days for one in figures]


def _height(value: float, scale: float) -> float:
    return _BASE - (_BASE - _TOP) * min(max(value, 0.0), scale) / scale


def _days(figures: Sequence[Figure], places: Sequence[float]) -> tuple[Tick, ...]:
    """The first and the last day, and one near the middle when it does not touch them."""
    if not figures:
        return ()
    shown = {0, len(figures) - 1}
    middle = min(range(len(figures)), key=lambda number: abs(places[number] - WIDTH / 2))
    if all(abs(places[middle] - places[end]) > WIDTH / 4 for end in shown):
        shown.add(middle)
    ends = sorted(shown) if _span(figures) > 1 else [0]
    return tuple(Tick(places[number], figures[number].day.isoformat()) for number in ends)


def _upward(levels: Sequence[float], form: Callable[[float], str]) -> tuple[Tick, ...]:
    return tuple(Tick(_height(level, levels[-1]), form(level)) for level in levels)
