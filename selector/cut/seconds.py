"""How long base tests take: what is on record, and what is assumed where nothing is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from statistics import median

from selector.known import Durations
from selector.types import BaseTest

#: Seconds of a test when no duration at all is on record.
UNKNOWN_S = 1.0


class Seconds:
    """The seconds of base tests, over all their generated variants.

    A test without a record is taken to last as long as the median of its file, else as that of all files, else
    `UNKNOWN_S`. Starting a file is not counted: one process that has imported torch is forked for each.
    """

    def __init__(self, durations: Durations | None, files: Collection[str]) -> None:
        told = durations.seconds(files) if durations is not None and files else {}
        self._known = {file: _usable(tests) for file, tests in told.items()}
        every = [seconds for tests in self._known.values() for seconds in tests.values()]
        self._default = median(every) if every else UNKNOWN_S
        self._of_file = {file: median(tests.values()) for file, tests in self._known.items() if tests}

    def of(self, test: BaseTest) -> float:
        """Seconds, on record or assumed."""
        known = self._known.get(test.file)
        seconds = known.get(str(test)) if known else None
        return self._of_file.get(test.file, self._default) if seconds is None else seconds

    def recorded(self, test: BaseTest) -> bool:
        """Whether a duration of this test is on record."""
        known = self._known.get(test.file)
        return bool(known) and str(test) in self._known[test.file]

    def total(self, tests: Iterable[BaseTest]) -> float:
        """The sum, whatever the order."""
        return math.fsum(self.of(test) for test in tests)


def _usable(told: Mapping[str, float]) -> dict[str, float]:
    """What can be a duration: earlier runs of code that nobody trusts told it."""
    return {test: float(seconds) for test, seconds in told.items() if 0 <= seconds < math.inf}
