"""A row of numbers as the points of a small line of SVG. Geometry only; a template draws it and says it in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

WIDTH, HEIGHT = 600, 56
#: Room at each edge, so that a dot at an edge is drawn whole.
_EDGE = 4


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line through `points` (`x,y x,y ...`), its dots, and what it shows in numbers. All of the same unit."""

    points: str
    dots: tuple[tuple[float, float], ...]
    count: int
    least: float
    most: float
    middle: float
    last: float
    width: int = WIDTH
    height: int = HEIGHT


def sparkline(values: Sequence[float | None]) -> Sparkline | None:
    """The line through the values that are there, each in its place from left to right; None when fewer than two are.
    The bottom is 0, so that a small change does not look like a large one."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return None
    numbers = [value for _, value in known]
    across, most = len(values) - 1, max(numbers)
    dots = tuple(
        (
            round(_EDGE + place / across * (WIDTH - 2 * _EDGE), 1),
            round(HEIGHT - _EDGE - (value / most if most else 0) * (HEIGHT - 2 * _EDGE), 1),
        )
        for place, value in known
    )
    line = " ".join(f"{x},{y}" for x, y in dots)
    return Sparkline(line, dots, len(known), min(numbers), most, median(numbers), numbers[-1])
