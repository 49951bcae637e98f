"""The chance that a test is the one to show a break.

Stage 2 estimates how likely a change breaks a test *file*; inside the file that probability is shared out by the
scores of stage 3. Summed over what is left out, the chances are the failing files that a plan is expected to miss.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping

from selector.types import BaseTest, Candidate


class Chances:
    """Chances for every test of a catalog. `probabilities` are those of its files, `sizes` how many tests they have."""

    def __init__(
        self, considered: Iterable[Candidate], probabilities: Mapping[str, float], sizes: Mapping[str, int]
    ) -> None:
        scores: dict[str, dict[BaseTest, float]] = defaultdict(dict)
        self._probabilities = dict(probabilities)
        for candidate in considered:
            file = candidate.test.file
            scores[file][candidate.test] = candidate.score
            self._probabilities[file] = max(self._probabilities.get(file, 0.0), candidate.probability)
        self._scores = scores
        self._sums = {file: math.fsum(of_tests.values()) for file, of_tests in scores.items()}
        self._sizes = sizes

    def of_file(self, file: str) -> float:
        """The probability, 0 to 1, that the change breaks the file."""
        return self._probabilities.get(file, 0.0)

    def of(self, test: BaseTest) -> float:
        """The part of its file's probability that falls to this test."""
        total = self._sums.get(test.file, 0.0)
        if not total:  # nothing tells the tests of the file apart
            return self.of_file(test.file) / max(1, self._sizes.get(test.file, 1))
        return self.of_file(test.file) * self._scores[test.file].get(test, 0.0) / total
