"""How much of a selection is to run: all of it, what fits a budget, or everything there is. The wish, not the doing."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """How the plan is cut.

    `budget_s` (seconds) bounds what may run beside the tests that must, and is filled with what stage 3 put off;
    `holdout` (0 to 1) is the share of what is left
    out that runs nevertheless, drawn by lot, so that misses are seen; `full` says why everything runs, empty when that
    was not asked, and beats the other two. Raises `ValueError` for numbers that mean nothing.
    """

    budget_s: float | None = None
    holdout: float = 0.0
    full: str = ""

    def __post_init__(self) -> None:
        if self.budget_s is not None and not (math.isfinite(self.budget_s) and self.budget_s >= 0):
            raise ValueError(f"a budget is a number of seconds, not {self.budget_s}")
        if not 0 <= self.holdout <= 1:
            raise ValueError(f"a holdout is a share from 0 to 1, not {self.holdout}")


WHOLE = Cut()
