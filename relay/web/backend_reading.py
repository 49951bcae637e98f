"""What the pages about backends and their JSON twins read in common: the allowlist, the lines of a tab, one backend.

Owns which questions are asked of the record for them; what the answers mean is `relay.hud`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Backend, Level, repo_key
from relay.context import RelayContext
from relay.hud.freshness import Cadences
from relay.hud.levels import level_statuses
from relay.hud.overview import BackendLine, backend_lines
from relay.hud.readiness import LevelStatus
from relay.hud.scheduled import reported_name
from relay.hud.summaries import pull_request_summary, scheduled_summary
from relay.hud.tabs import Tab
from relay.parts import AllowlistUnavailableError
from relay.store.crcr_models import Demotion

Row = Mapping[str, Any]

USUAL_DAYS = 7


@dataclass(frozen=True, slots=True)
class Registered:
    """The allowlist in force. `problem` says why it is not the newest, or that there is none."""

    allowlist: Allowlist = field(default_factory=Allowlist)
    problem: str = ""
    configured: bool = True

    @classmethod
    def of(cls, context: RelayContext) -> Registered:
        """As the protocol's parts have it; a relay without the protocol knows no backend."""
        if context.crcr is None:
            return cls(configured=False)
        try:
            loaded = context.crcr.allowlist.current()
        except AllowlistUnavailableError as error:
            return cls(problem=str(error))
        return cls(loaded.allowlist, loaded.problem)


@dataclass(frozen=True, slots=True)
class Overview:
    """A tab's backends by level, L4 first. `rows` are the summaries, the probe's too; the others go by repository
    key."""

    lines: Mapping[Level, Sequence[BackendLine]]
    rows: Sequence[Row]
    standings: Mapping[str, LevelStatus]
    demoted: frozenset[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """One backend: its entry, None while it is not listed, and the level that goes for it."""

    repo: str
    entry: Backend | None
    level: str


def read_overview(session: Session, context: RelayContext, registered: Registered, tab: Tab, days: int) -> Overview:
    """Every registered backend and every other that reports, in a fixed number of queries."""
    now, backends = context.now(), registered.allowlist.backends
    rows = _rows(session, context, tab, days, now)
    return Overview(
        lines=backend_lines(_expected(backends, tab, rows), rows, tab.participation),
        rows=rows,
        standings={repo_key(status.repo): status for status in level_statuses(session, backends, now)},
        demoted=frozenset(session.scalars(select(Demotion.repo_key))),
    )


def _rows(session: Session, context: RelayContext, tab: Tab, days: int, now: datetime) -> list[dict[str, Any]]:
    if not tab.scheduled:
        return pull_request_summary(session, days=days, now=now)
    cadences = Cadences.read(context.settings.crcr_cadences)
    return scheduled_summary(session, days=days, event_type=tab.value, now=now, cadences=cadences)


def _expected(backends: Sequence[Backend], tab: Tab, rows: Sequence[Row]) -> Sequence[Backend]:
    """Nobody promises periodic runs: only who made some is on their tab."""
    if tab is not Tab.PERIODIC:
        return backends
    known = {repo_key(row["repo"]) for row in rows}
    return [backend for backend in backends if backend.key in known]


def find_subject(session: Session, registered: Registered, repo: str) -> Subject | None:
    """A backend that is listed or ever reported."""
    entry = registered.allowlist.find(repo)
    if entry is not None:
        return Subject(entry.repo, entry, entry.level.name)
    reported = reported_name(session, repo)
    return None if reported is None else Subject(reported[0], None, reported[1])


def read_standing(session: Session, subject: Subject, now: datetime) -> LevelStatus | None:
    """Against the targets of L3; who is not listed, or at another level, is not measured."""
    if subject.entry is None or subject.entry.level not in (Level.L2, Level.L3):
        return None
    (status,) = level_statuses(session, [subject.entry], now)
    return status
