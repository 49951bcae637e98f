"""One score out of all that ties a test to a change: `Weighing`.

The learned model weighs the signals of the test's file and the rules it was trained with. Rules it knows nothing of
stand beside it as evidence of their own. Nothing here makes a test must-run or lifts that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from selector.catalog import Catalog
from selector.change import ChangeSet
from selector.known import History
from selector.ownership.links import EVIDENCE_CAP, Link
from selector.ownership.model import STANDS_ALONE, shipped_model
from selector.ownership.outcomes import RULES as OUTCOMES
from selector.ownership.signals import Signal, file_signals, with_rules
from selector.types import Reason, Stage, WeighedSignal

RULE = "weighed signals"
#: Rules with a cause of their own that the cases did not teach. Weaker ones (an owner label, a common name) are reasons
#: to read, and count through the signals.
_BESIDE = frozenset({"test support", "operator database", "named in the description", "observed operator"}) | OUTCOMES
#: A file's signals say little of any one of its hundreds of tests: where no rule ties a test itself, they count for so
#: much, and the test's own words have to agree in stage 3.
_OF_FILE = 0.4


class Weighing:
    """The signals of one change, for all test files of a catalog."""

    def __init__(self, change: ChangeSet, catalog: Catalog, description: str, history: History | None) -> None:
        self._catalog = catalog
        self._model = shipped_model(history=history is not None)
        self._signals = file_signals(change, catalog, description, history)

    def reason(self, file: str, reasons: Sequence[Reason]) -> Reason:
        """The score of a test of `file` about which the rules say `reasons`, with what says most for it."""
        signals = with_rules(self._signals.get(file, {}), reasons)
        values = {name: signal.value for name, signal in signals.items()}
        score = _either([self._model.score(values), *(reason.score or 0.0 for reason in reasons if _is_beside(reason))])
        if _either(reason.score or 0.0 for reason in reasons) < STANDS_ALONE:
            score *= _OF_FILE
        evidence = f"{self._strongest(signals)}; breaks with probability {self._model.probability(values):.2%}"
        return Reason(Stage.OWNERSHIP, RULE, evidence[-EVIDENCE_CAP:], round(score, 4))

    def probability(self, file: str, reasons: Sequence[Reason]) -> float:
        """The estimated probability, 0 to 1, that the change breaks `file`, given what the rules say of one test."""
        signals = with_rules(self._signals.get(file, {}), reasons)
        return self._model.probability({name: signal.value for name, signal in signals.items()})

    def strongest(self, file: str, reasons: Sequence[Reason]) -> tuple[WeighedSignal, ...]:
        """What says most for `file`, given what the rules say of one test, the strongest first."""
        signals = with_rules(self._signals.get(file, {}), reasons)
        top = self._model.top(signals)
        return tuple(WeighedSignal(name, worth, signals[name].evidence[:EVIDENCE_CAP]) for name, worth in top)

    def probabilities(self) -> Mapping[str, float]:
        """The estimated probability, 0 to 1, that the change breaks a file, for every file of the catalog."""
        return {path: self.probability(path, ()) for path in self._catalog.files}

    def beyond(self, linked: Collection[str]) -> Iterator[Link]:
        """All tests of the files that no rule ties to the change while their signals stand alone."""
        for path, file in self._catalog.files.items():
            if path not in linked:
                reason = self.reason(path, ())
                if (reason.score or 0.0) >= STANDS_ALONE * _OF_FILE:
                    yield from (Link(test, reason) for test in file.tests)

    def _strongest(self, signals: dict[str, Signal]) -> str:
        top = self._model.top(signals)
        said = [f"{name} +{worth:.2f} ({signals[name].evidence[:80]})" for name, worth in top]
        return ", ".join(said) or "no signal"


def _is_beside(reason: Reason) -> bool:
    return reason.rule in _BESIDE


def _either(scores: Iterable[float]) -> float:
    """Independent pieces of evidence: the chance that at least one of them is right."""
    return 1.0 - math.prod(1.0 - score for score in scores)
