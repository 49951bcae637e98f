"""The logistic model that weighs the signals of a test, with the weights that ship with the package.

`weights.json` is written by `python -m selector.ownership.training`; its numbers are learned, none is set by hand here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selector.ownership.signals import Signal

#: From this score on, stage 3 keeps a test whatever its words are.
STANDS_ALONE = 0.6
WEIGHTS_FILE = Path(__file__).with_name("weights.json")


class WeightsError(ValueError):
    """The file of weights cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by signal, in logarithms of odds. The intercept is that of even odds; `prior` is what is added for how
    rarely any one file fails, `shift` what is added to make a score of the probability."""

    weights: Mapping[str, float]
    intercept: float
    prior: float
    shift: float = 0.0

    def score(self, signals: Mapping[str, float]) -> float:
        """What candidates are ordered and cut by, 0 to 1. A tenth of all files of the changes that were learned from
        reach `STANDS_ALONE`."""
        return round(_logistic(self.sum(signals) + self.shift), 4)

    def probability(self, signals: Mapping[str, float]) -> float:
        """The estimated probability that the change breaks the file, 0 to 1."""
        return round(_logistic(self.sum(signals) + self.prior), 6)

    def top(self, signals: Mapping[str, Signal], count: int = 3) -> list[tuple[str, float]]:
        """The signals that say most for a test with what each adds to the logarithm of the odds, strongest first."""
        worth = {name: self.weights.get(name, 0.0) * signal.value for name, signal in signals.items()}
        best = sorted(worth, key=lambda name: (-worth[name], name))[:count]
        return [(name, round(worth[name], 2)) for name in best if worth[name] > 0]

    def sum(self, signals: Mapping[str, float]) -> float:
        """The logarithm of the odds, as if half of all files failed."""
        return self.intercept + sum(self.weights.get(name, 0.0) * signals[name] for name in sorted(signals))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, value))))


def read_model(text: str, *, history: bool) -> Model:
    """The model for selections with or without a history. Raises `WeightsError`."""
    try:
        part = json.loads(text)["models"]["with history" if history else "without history"]
        weights = {str(name): float(weight) for name, weight in part["weights"].items()}
        return Model(weights, float(part["intercept"]), float(part["prior"]), float(part["shift"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"the weights cannot be read ({error!r}); train them anew") from error


@cache
def shipped_model(*, history: bool) -> Model:
    """The model that comes with the package. Raises `WeightsError` for a damaged installation."""
    try:
        text = WEIGHTS_FILE.read_text(encoding="utf-8")
    except OSError as error:
        raise WeightsError(f"{WEIGHTS_FILE.name} cannot be read: {error}; install the package again") from error
    return read_model(text, history=history)
