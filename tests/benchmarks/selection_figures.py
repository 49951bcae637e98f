"""Figures of rankings: hits at a share of the files, reciprocal ranks, and how sure they are.

A ranking is the place of the best broken file of each case: 0 for the first of all files, as a share of their number.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SHARES = (0.02, 0.05, 0.10, 0.25)
_RESAMPLES = 2000
_SEED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """Where the best broken file stands among `files` files; `rank` counts from 0, and is `files` without any."""

    rank: int
    files: int

    @property
    def share(self) -> float:
        return self.rank / self.files if self.files else 1.0

    @property
    def reciprocal(self) -> float:
        return 1 / (self.rank + 1) if self.rank < self.files else 0.0


def place(scores: Mapping[str, float], files: Sequence[str], broken: Sequence[str]) -> Place:
    """The place of the best of `broken` when `files` are ordered by score and then by name."""
    order = {path: rank for rank, path in enumerate(sorted(files, key=lambda path: (-scores.get(path, 0.0), path)))}
    return Place(min((order[path] for path in broken if path in order), default=len(files)), len(files))


def random_place(files: int, broken: int) -> Place:
    """Where the first of `broken` files stands on average in a random order."""
    return Place(round((files + 1) / (broken + 1) - 1) if broken else files, files)


def hits(places: Sequence[Place], share: float) -> float:
    """The share of cases whose best broken file is among the first `share` of the files."""
    return sum(place.share < share for place in places) / len(places) if places else 0.0


def misses(places: Sequence[Place], share: float) -> int:
    """How many cases are not hit."""
    return sum(place.share >= share for place in places)


def mean_reciprocal(places: Sequence[Place]) -> float:
    return sum(place.reciprocal for place in places) / len(places) if places else 0.0


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean. The same values give the same interval."""
    if not values:
        return (0.0, 0.0)
    chance = random.Random(_SEED)  # noqa: S311 - resampling needs repeatable numbers, not secret ones
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return (means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1])


def hit_interval(places: Sequence[Place], share: float) -> tuple[float, float]:
    return interval([float(place.share < share) for place in places])


def difference(ours: Sequence[Place], theirs: Sequence[Place], share: float) -> tuple[float, tuple[float, float]]:
    """The paired difference of hits, and its interval."""
    pairs = [float(one.share < share) - float(other.share < share) for one, other in zip(ours, theirs, strict=True)]
    return (sum(pairs) / len(pairs) if pairs else 0.0, interval(pairs))


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))] if ordered else 0.0
