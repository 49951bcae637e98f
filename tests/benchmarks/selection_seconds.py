"""What a selection finds in a share of the *time* of all tests: `FileTimes`, and hits at a budget in seconds.

Times are upstream's own: the file `stats/test-times.json` of the branch `generated-stats` of pytorch/test-infra, which
holds seconds by build, configuration and test file. They are of 2026 where the cases are of 2022; a file that is not in
it is taken for one of median length, which says nothing for or against it.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: The build and configuration whose times are taken.
_BUILD = _CONFIGURATION = "default"
#: Seconds below which a file is as good as free, so that none is worth infinitely much.
_FREE_S = 0.001


class FileTimes:
    """Seconds of test files. Raises `ValueError` for a file of another form."""

    def __init__(self, file: Path) -> None:
        try:
            told = json.loads(file.read_text(encoding="utf-8"))[_BUILD][_CONFIGURATION]
            self._known = {f"test/{name}.py": float(seconds) for name, seconds in told.items()}
            self._median = statistics.median(self._known.values())
        except (KeyError, TypeError, AttributeError, statistics.StatisticsError) as error:
            raise ValueError(f"{file} holds no times of the build `{_BUILD}`: {error!r}") from error

    def of(self, files: Collection[str]) -> Mapping[str, float]:
        """The seconds of each file: its own, or the median."""
        return {path: self._known.get(path, self._median) for path in files}


@dataclass(frozen=True, slots=True)
class Budgeted:
    """What ran within a budget: whether a broken file was among it, and the share of all seconds that it took."""

    hit: bool
    spent: float


def within(
    share: float,
    order: Sequence[str],
    seconds: Mapping[str, float],
    broken: Collection[str],
    must_run: Mapping[str, float] | None = None,
) -> Budgeted:
    """Run files in order while they fit into a share of all seconds; one that does not makes room for those behind it.
    `must_run` tells which share of a file's tests runs before all others, whatever the budget is."""
    total = sum(seconds.values())
    sure = must_run or {}
    spent = sum(seconds[path] * part for path, part in sure.items() if path in seconds)
    hit = any(path in sure for path in broken)
    for path in order:
        rest = seconds[path] * (1.0 - sure.get(path, 0.0))
        if spent + rest <= share * total:
            spent += rest
            hit = hit or path in broken
    return Budgeted(hit, spent / total if total else 0.0)


def per_second(scores: Mapping[str, float], seconds: Mapping[str, float]) -> list[str]:
    """The files by score for each second, the best first, ties by name."""
    worth = {path: scores.get(path, 0.0) / max(_FREE_S, seconds[path]) for path in seconds}
    return sorted(seconds, key=lambda path: (-worth[path], path))


def by_score(scores: Mapping[str, float], files: Collection[str]) -> list[str]:
    """The files by score alone."""
    return sorted(files, key=lambda path: (-scores.get(path, 0.0), path))
