"""How long tests take, from upstream's own statistics: `read_times(file).durations(catalog)`.

The file is `stats/test-times.json` of the branch `generated-stats` of pytorch/test-infra: seconds by job, by test
configuration and by test file (`test_nn`, `nn/test_pooling`). It knows files only, so the tests of a file share its
seconds evenly, and a file that is not in it takes the median of the tree's other files.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from selector.catalog import Catalog


@dataclass(frozen=True, slots=True)
class EvenDurations:
    """Seconds of test files, shared evenly by their tests; `tests` are the names of these by file."""

    of_files: Mapping[str, float]
    tests: Mapping[str, Collection[str]]

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return {file: self._even(file) for file in files if self.tests.get(file)}

    @property
    def total(self) -> float:
        """Seconds of all files that have tests."""
        return sum(seconds for file, seconds in self.of_files.items() if self.tests[file])

    def _even(self, file: str) -> Mapping[str, float]:
        tests = self.tests[file]
        return {test: self.of_files[file] / len(tests) for test in tests}


@dataclass(frozen=True, slots=True)
class TestTimes:
    """Seconds by the file's name without `test/` and `.py`."""

    known: Mapping[str, float]

    def durations(self, catalog: Catalog) -> EvenDurations:
        """The seconds of every test of a catalog. Raises `ValueError` when not one of its files is known."""
        told = {path: self.known.get(path.removeprefix("test/").removesuffix(".py")) for path in catalog.files}
        known = [seconds for seconds in told.values() if seconds is not None]
        if not known:
            raise ValueError("the file of times knows no test file of this tree")
        middle = median(known)
        seconds = {path: middle if value is None else value for path, value in told.items()}
        return EvenDurations(seconds, {path: [str(one.test) for one in it.tests] for path, it in catalog.files.items()})


def read_times(file: Path) -> TestTimes:
    """The times of the default job in its default configuration. Raises `ValueError` for another file."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))["default"]["default"]
        return TestTimes({str(name): float(seconds) for name, seconds in known.items()})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file} is no file of test times: it has no seconds under default, default") from error
