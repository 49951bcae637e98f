"""What can be asked for."""

from __future__ import annotations

import math

import pytest

from selector.cut import WHOLE, Cut


@pytest.mark.parametrize("budget_s", [-1.0, math.nan, math.inf])
def test_a_budget_is_a_number_of_seconds(budget_s: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        Cut(budget_s=budget_s)


@pytest.mark.parametrize("holdout", [-0.01, 1.01, math.nan])
def test_a_holdout_is_a_share(holdout: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Cut(holdout=holdout)


def test_nothing_is_cut_unless_asked() -> None:
    assert Cut(0.0, 1.0, "label") != Cut() == WHOLE
