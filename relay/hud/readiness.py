"""Whether a backend may rise to L3, or falls from it: the figures against their targets (5.8).

Pure: figures in, verdicts out. To rise every target must be met over 14 days, to fall one must be missed over 7. What
has no value is neither: silence moves nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from relay.allowlist.types import Backend, Level
from relay.hud.figures import Figures

PROMOTION_DAYS = 14
DEMOTION_DAYS = 7

#: How long a backend is to have been at L2, and how far back its results are to reach, before it may rise.
_TIME_AT_LEVEL = timedelta(days=30)
_RECENT_DATA = timedelta(days=14)


class Change(StrEnum):
    """What the figures call for. People decide."""

    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class Tenure:
    """Since when a backend has results at its level, and when its first and last ones started; None without any."""

    level_since: datetime | None = None
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """One target. `met` is None when there is nothing to measure."""

    criterion: str
    measured: str
    target: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class LevelStatus:
    """One backend's figures over its window, and the change that they call for."""

    repo: str
    level: Level
    change: Change | None
    no_data: bool
    window_days: int
    criteria: tuple[Criterion, ...]


@dataclass(frozen=True, slots=True)
class _Target:
    name: str
    label: str
    value: Callable[[Figures], float | None]
    met: Callable[[float], bool]
    shown: Callable[[float], str]


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def _hours(value: float) -> str:
    return f"{value / 3_600:.2f} h"


def _minutes(value: float) -> str:
    return f"{value / 60:.1f} min"


_TARGETS = (
    _Target("Pass rate", "> 90 %", lambda found: found.pass_rate, lambda value: value > 0.9, _percent),
    _Target("Timeout rate", "< 1 %", lambda found: found.timeout_rate, lambda value: value < 0.01, _percent),
    _Target("Overrun rate", "< 1 %", lambda found: found.overrun_rate, lambda value: value < 0.01, _percent),
    _Target("End-to-end P50", "< 3 h", lambda found: found.median_e2e_time_s, lambda value: value < 3 * 3_600, _hours),
    _Target("Average queue", "< 30 min", lambda found: found.avg_queue_time_s, lambda value: value < 1_800, _minutes),
)


def window_days(level: Level) -> int:
    """Over how many days a backend of this level is measured."""
    return DEMOTION_DAYS if level is Level.L3 else PROMOTION_DAYS


def level_status(
    backend: Backend, figures: Mapping[str, Figures], tenures: Mapping[str, Tenure], now: datetime
) -> LevelStatus:
    """Where a backend of L2 or L3 stands; `figures` are those of its window, both by repository key."""
    found = figures.get(backend.key)
    criteria = tuple(_judge(target, found) for target in _TARGETS)
    if backend.level is Level.L2:
        criteria += _prerequisites(tenures.get(backend.key, Tenure()), now)
    return LevelStatus(
        backend.repo,
        backend.level,
        _change(backend.level, criteria),
        found is None,
        window_days(backend.level),
        criteria,
    )


def _judge(target: _Target, found: Figures | None) -> Criterion:
    value = None if found is None else target.value(found)
    if value is None:
        return Criterion(target.name, "no data", target.label, None)
    return Criterion(target.name, target.shown(value), target.label, target.met(value))


def _prerequisites(tenure: Tenure, now: datetime) -> tuple[Criterion, ...]:
    recent = tenure.last is not None and now - tenure.last <= timedelta(days=PROMOTION_DAYS)
    return (
        _long_enough("Time at L2", tenure.level_since, now, _TIME_AT_LEVEL),
        _long_enough("Recent data", tenure.first if recent else None, now, _RECENT_DATA),
    )


def _long_enough(name: str, since: datetime | None, now: datetime, least: timedelta) -> Criterion:
    target = f">= {least.days} days"
    if since is None:
        return Criterion(name, "no data", target, None)
    return Criterion(name, f"{(now - since).days} days", target, now - since >= least)


def _change(level: Level, criteria: Sequence[Criterion]) -> Change | None:
    met = [criterion.met for criterion in criteria]
    if level is Level.L3:
        return Change.DEMOTE if False in met else None
    return Change.PROMOTE if all(met) else None
