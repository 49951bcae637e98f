"""The measured figures that `simulate` reckons with, read from JSON: each with how it was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FIGURES = Path(__file__).with_name("simulate_figures.json")


@dataclass(frozen=True, slots=True)
class FileFigures:
    """A test file on the device: its tests, their seconds, and the seconds of a shard beside them."""

    tests: int
    seconds: float
    beside_s: float


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """A change: worker seconds to select its tests, and of each file how many tests of how many seconds are planned."""

    select_s: float
    files: Mapping[str, tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Figures:
    """`hours` are shares of a day (UTC) that add up to 1. Of pull requests: pushes to each in the mean, and seconds
    between two. `broken` is the share of changes whose failures are tried again and compared with base."""

    hours: Sequence[float]
    merged_per_day: float
    changes: Sequence[PlanFigures]
    everything: PlanFigures
    beside_s: Mapping[str, float]
    checkout_s: Sequence[float]
    import_s: Sequence[float]
    relay_s: float
    fetch_s: float
    pushes: float
    push_gap_s: float
    broken: float


def read_figures(file: Path = FIGURES) -> Figures:
    """Raises `KeyError`, `TypeError` or `ValueError` for a file of another form."""
    told = {name: one["value"] for name, one in json.loads(file.read_text(encoding="utf-8")).items()}
    files = {path: FileFigures(*row) for path, row in told["files"].items()}
    changes = [
        PlanFigures(one["select_s"], {path: (tests, seconds) for path, tests, seconds in one["plan"]})
        for one in told["changes"]
    ]
    # What everything costs to select does not depend on the change.
    slowest = max(one.select_s for one in changes)
    return Figures(
        hours=[share / sum(told["hours"]) for share in told["hours"]],
        merged_per_day=told["merged_per_day"],
        changes=changes,
        everything=PlanFigures(slowest, {path: (file.tests, file.seconds) for path, file in files.items()}),
        beside_s={path: file.beside_s for path, file in files.items()},
        checkout_s=told["checkout_s"],
        import_s=told["import_s"],
        relay_s=told["relay_s"],
        fetch_s=told["fetch_s"],
        pushes=told["pushes_per_pull_request"],
        push_gap_s=told["push_gap_s"],
        broken=told["broken"],
    )
