"""One score out of all that ties a test to a change: `Weighing`.

The learned model weighs the signals of the test's file and the rules it was trained with. Rules it knows nothing of
stand beside it as evidence of their own. Nothing here makes a test must-run or lifts that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from selector.catalog import Catalog
from selector.change import ChangeSet
from selector.known import History
from selector.ownership.links import EVIDENCE_CAP, Link
from selector.ownership.model import STANDS_ALONE, shipped_model
from selector.ownership.outcomes import RULES as OUTCOMES
from selector.ownership.signals import file_signals, with_rules
from selector.types import Reason, Stage, WeighedSignal

RULE = "weighed signals"
#: Rules with a cause of their own that the cases did not teach. Weaker ones (an owner label, a common name) are reasons
#: to read, and count through the signals.
_BESIDE = frozenset({"test support", "operator database", "named in the description", "observed operator"}) | OUTCOMES
#: A file's signals say little of any one of its hundreds of tests: where no rule ties a test itself, they count for so
#: much, and the test's own words have to agree in stage 3.
_OF_FILE = 0.4


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a test weighs: its score with what says most for it, the estimated probability (0 to 1) that the change
    breaks its file, and the strongest signals of that, the strongest first."""

    reason: Reason
    probability: float
    signals: tuple[WeighedSignal, ...]


class Weighing:
    """The signals of one change, for all test files of a catalog."""

    def __init__(self, change: ChangeSet, catalog: Catalog, description: str, history: History | None) -> None:
        self._catalog = catalog
        self._model = shipped_model(history=history is not None)
        self._signals = file_signals(change, catalog, description, history)
        self._known: dict[tuple[str, tuple[Reason, ...]], Weighed] = {}

    def of(self, file: str, reasons: tuple[Reason, ...]) -> Weighed:
        """What a test of `file` weighs about which the rules say `reasons`, which is often the same for many tests."""
        key = (file, reasons)
        if key not in self._known:
            self._known[key] = self._weighed(file, reasons)
        return self._known[key]

    def _weighed(self, file: str, reasons: Sequence[Reason]) -> Weighed:
        signals = with_rules(self._signals.get(file, {}), reasons)
        values = {name: signal.value for name, signal in signals.items()}
        score = _either([self._model.score(values), *(reason.score or 0.0 for reason in reasons if _is_beside(reason))])
        if _either(reason.score or 0.0 for reason in reasons) < STANDS_ALONE:
            score *= _OF_FILE
        probability = self._model.probability(values)
        top = [(name, worth, signals[name].evidence) for name, worth in self._model.top(signals)]
        evidence = f"{_said(top)}; breaks with probability {probability:.2%}"
        reason = Reason(Stage.OWNERSHIP, RULE, evidence[-EVIDENCE_CAP:], round(score, 4))
        strongest = tuple(WeighedSignal(name, worth, seen[:EVIDENCE_CAP]) for name, worth, seen in top)
        return Weighed(reason, probability, strongest)

    def probabilities(self) -> Mapping[str, float]:
        """The estimated probability, 0 to 1, that the change breaks a file, for every file of the catalog."""
        values = {path: self._signals.get(path, {}) for path in self._catalog.files}
        return {
            path: self._model.probability({name: signal.value for name, signal in signals.items()})
            for path, signals in values.items()
        }

    def beyond(self, linked: Collection[str]) -> Iterator[Link]:
        """All tests of the files that no rule ties to the change while their signals stand alone."""
        for path, file in self._catalog.files.items():
            if path not in linked:
                reason = self.of(path, ()).reason
                if (reason.score or 0.0) >= STANDS_ALONE * _OF_FILE:
                    yield from (Link(test, reason) for test in file.tests)


def _said(top: Iterable[tuple[str, float, str]]) -> str:
    return ", ".join(f"{name} +{worth:.2f} ({evidence[:80]})" for name, worth, evidence in top) or "no signal"


def _is_beside(reason: Reason) -> bool:
    return reason.rule in _BESIDE


def _either(scores: Iterable[float]) -> float:
    """Independent pieces of evidence: the chance that at least one of them is right."""
    return 1.0 - math.prod(1.0 - score for score in scores)
