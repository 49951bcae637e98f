"""How long a test has kept doing the same: its newest runs, without one that speaks against it.

Runs are put in order by their dates, so observations without one do not count. Owns what a streak is and what it has
to show; what follows from it is decided in `promotion.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from selector.manifests.authoring.results import Observation, ObservedTest

_FAILURES = frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT})
_SILENCE = frozenset({Observation.MISSING, Observation.SKIPPED})


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a streak has to be: runs, different days (UTC) and different machines for a promotion, and the newest
    runs that failed for a demotion. A run in which a test both passed and failed ends either.
    """

    runs: int = 10
    days: int = 3
    machines: int = 2
    failures: int = 3


@dataclass(frozen=True, slots=True)
class Run:
    """All attempts at one test in one run."""

    at: datetime
    machines: frozenset[str]
    observations: frozenset[Observation]

    @property
    def passed(self) -> bool:
        """It passed in every attempt that says something."""
        return not self.observations & _FAILURES

    @property
    def failed(self) -> bool:
        """It failed in every attempt that says something."""
        return Observation.PASSED not in self.observations


@dataclass(frozen=True, slots=True)
class Streak:
    """Runs that did the same, newest first."""

    runs: tuple[Run, ...]

    @property
    def days(self) -> int:
        return len({run.at.date() for run in self.runs})

    @property
    def machines(self) -> frozenset[str]:
        return frozenset(machine for run in self.runs for machine in run.machines if machine)

    def lacks(self, policy: Policy) -> str:
        """What it still lacks for a promotion, empty when that is nothing."""
        wanted = (
            (len(self.runs), policy.runs, "runs"),
            (self.days, policy.days, "days"),
            (len(self.machines), policy.machines, "machines"),
        )
        return ", ".join(f"{count} of {least} {noun}" for count, least, noun in wanted if count < least)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the weakest of several variants has to show."""

    variants: int
    runs: int
    days: int
    machines: tuple[str, ...]
    first: datetime
    last: datetime

    def __str__(self) -> str:
        counts = f"{_count(self.variants, 'variant')}, {_count(self.runs, 'run')} on {_count(self.days, 'day')}"
        machines = ", ".join(self.machines) or "not named"
        return f"{counts} ({self.first:%Y-%m-%d} to {self.last:%Y-%m-%d}), machines: {machines}"


def runs_by_test(observed: Iterable[ObservedTest]) -> Mapping[str, tuple[Run, ...]]:
    """The dated runs of every test in which it said something, newest first."""
    attempts: dict[str, dict[tuple[datetime, str], list[ObservedTest]]] = {}
    for one in observed:
        if one.at is not None and one.observation not in _SILENCE:
            attempts.setdefault(one.id, {}).setdefault((one.at, one.run), []).append(one)
    return {test_id: tuple(_newest_first(found)) for test_id, found in attempts.items()}


def _newest_first(found: Mapping[tuple[datetime, str], Sequence[ObservedTest]]) -> Iterator[Run]:
    for (at, _), attempts in sorted(found.items(), reverse=True):
        yield Run(at, frozenset(one.machine for one in attempts), frozenset(one.observation for one in attempts))


def passing(runs: Sequence[Run]) -> Streak:
    """The newest runs that all passed."""
    return Streak(tuple(takewhile(lambda run: run.passed, runs)))


def failing(runs: Sequence[Run]) -> Streak:
    """The newest runs that all failed."""
    return Streak(tuple(takewhile(lambda run: run.failed, runs)))


def evidence(streaks: Sequence[Streak]) -> Evidence:
    """Of at least one streak, none of them empty."""
    fewest = min(streaks, key=lambda streak: (len(streak.machines), sorted(streak.machines)))
    dates = [run.at for streak in streaks for run in streak.runs]
    return Evidence(
        variants=len(streaks),
        runs=min(len(streak.runs) for streak in streaks),
        days=min(streak.days for streak in streaks),
        machines=tuple(sorted(fewest.machines)),
        first=min(dates),
        last=max(dates),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
