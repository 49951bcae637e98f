"""A sparkline keeps its places and its proportions, and says what it shows."""

from __future__ import annotations

import pytest

from relay.web.sparkline import HEIGHT, WIDTH, sparkline


@pytest.mark.parametrize("values", [[], [None, None], [None, 1.0]])
def test_fewer_than_two_values_are_no_line(values: list[float | None]) -> None:
    assert sparkline(values) is None


def test_a_gap_keeps_its_place() -> None:
    line = sparkline([1.0, None, 2.0])
    assert line is not None
    assert line.dots == ((4, 28.0), (WIDTH - 4, 4))
    assert (line.count, line.least, line.most, line.middle, line.last) == (2, 1.0, 2.0, 1.5, 2.0)
    assert line.points == f"4.0,28.0 {WIDTH - 4}.0,4.0"


def test_only_zeros_lie_at_the_bottom() -> None:
    line = sparkline([0.0, 0.0])
    assert line is not None
    assert {y for _, y in line.dots} == {HEIGHT - 4}
