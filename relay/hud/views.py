"""What programs get of backends at `/api/v1/backends`: the figures of the pages, by the names of the saved queries.

Knows no database. Durations are seconds; names are untrusted text.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, JsonValue

from relay.hud.readiness import Change
from relay.hud.tabs import Tab
from relay.views import Page, View

_COUNTS: dict[str, JsonValue] = {
    "successes": 21,
    "failures": 1,
    "timed_out": 0,
    "total": 22,
    "pass_rate": 21 / 22,
    "judged": 22,
    "judged_pass_rate": 21 / 22,
}
_STANDING: dict[str, JsonValue] = {
    "change": "promote",
    "no_data": False,
    "window_days": 14,
    "criteria": [{"criterion": "Pass rate", "measured": "95.5 %", "target": "> 90 %", "met": True}],
}
_BACKEND: dict[str, JsonValue] = {
    "repo": "acme/torch-acme",
    "level": "L2",
    "listed": True,
    "lowering_proposed": False,
    "summary": {**_COUNTS, "avg_duration_s": 754.0, "last_run": "2026-11-02T11:00:00Z", "stale": False},
    "standing": _STANDING,
}
_LIST: dict[str, JsonValue] = {"event": "nightly", "days": 7, "problem": "", "backends": [_BACKEND], "next": None}
_DETAIL: dict[str, JsonValue] = {
    "repo": "acme/torch-acme",
    "level": "L2",
    "listed": True,
    "event": "pull_request",
    "days": 7,
    "counts": _COUNTS,
    "queue": {"jobs": 22, "p50_s": 41.0, "p95_s": 300.5},
    "execution": {"jobs": 22, "p50_s": 700.0, "p95_s": 1900.0},
    "standing": _STANDING,
}


class CriterionView(View):
    """One target of L3. `met` is null when there is nothing to measure."""

    criterion: str
    measured: str
    target: str
    met: bool | None


class StandingView(View):
    """The figures of a backend of L2 or L3 against the targets, and the change of level that they call for."""

    change: Change | None
    no_data: bool
    window_days: int
    criteria: tuple[CriterionView, ...]


class CountsView(View):
    """Of finished jobs. `judged` came to a verdict: they were neither cancelled nor skipped."""

    successes: int
    failures: int
    timed_out: int
    total: int
    pass_rate: float
    judged: int
    judged_pass_rate: float


class SummaryView(CountsView):
    """A backend's line. `stale` tells of scheduled runs whether one is overdue, null of others."""

    avg_duration_s: float | None
    last_run: datetime
    stale: bool | None = None


class BackendView(View):
    """One backend. `listed`: the allowlist names it; `summary` is null while nothing finished in the range."""

    repo: str
    level: str
    listed: bool
    lowering_proposed: bool
    summary: SummaryView | None
    standing: StandingView | None


class BackendList(Page):
    """By level, L4 first, within a level the worst pass rate first. `problem` says why the newest allowlist is not in
    force, or that there is none."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_LIST]})

    event: Tab
    days: int
    problem: str
    backends: tuple[BackendView, ...]


class SpreadView(View):
    """Of `jobs` that told the value."""

    jobs: int
    p50_s: float | None
    p95_s: float | None


class BackendDetail(View):
    """One backend over a range. A job that was ended by its limit tells nothing of `execution`."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_DETAIL]})

    repo: str
    level: str
    listed: bool
    event: Tab
    days: int
    counts: CountsView
    queue: SpreadView
    execution: SpreadView
    standing: StandingView | None
