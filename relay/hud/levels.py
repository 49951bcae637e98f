"""Reads what the levels of all listed backends are judged by (`GET /api/crcr/level-status`, 5.8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Backend, Level
from relay.hud.figures import level_figures
from relay.hud.readiness import DEMOTION_DAYS, PROMOTION_DAYS, LevelStatus, Tenure, level_status
from relay.store.crcr_models import CrcrResult


def level_statuses(session: Session, backends: Sequence[Backend], now: datetime) -> tuple[LevelStatus, ...]:
    """Backends of L3 and of L2, in this order, as the allowlist has them."""
    rising = [backend for backend in backends if backend.level is Level.L2]
    falling = [backend for backend in backends if backend.level is Level.L3]
    figures = level_figures(session, _keys(falling), days=DEMOTION_DAYS, now=now)
    figures |= level_figures(session, _keys(rising), days=PROMOTION_DAYS, now=now)
    tenures = _tenures(session, _keys(rising))
    return tuple(level_status(backend, figures, tenures, now) for backend in (*falling, *rising))


def _keys(backends: Sequence[Backend]) -> list[str]:
    return sorted(backend.key for backend in backends)


def _tenures(session: Session, repo_keys: Sequence[str]) -> dict[str, Tenure]:
    """By repository key: since its first result at L2, its first and its last result at all."""
    at_level = case((CrcrResult.downstream_repo_level == Level.L2.name, CrcrResult.listed_at))
    groups = session.execute(
        select(CrcrResult.repo_key, func.min(at_level), func.min(CrcrResult.listed_at), func.max(CrcrResult.listed_at))
        .where(CrcrResult.repo_key.in_(repo_keys))
        .group_by(CrcrResult.repo_key)
    )
    return {key: Tenure(since, first, last) for key, since, first, last in groups}


def as_answer(statuses: Sequence[LevelStatus]) -> dict[str, Any]:
    """The body that the job which opens demotions reads."""
    return {"repos": [_status(status) for status in statuses]}


def _status(status: LevelStatus) -> dict[str, Any]:
    return {
        "repo": status.repo,
        "level": status.level.name,
        "change": status.change,
        "noData": status.no_data,
        "windowDays": status.window_days,
        "criteria": [
            {"criterion": one.criterion, "measured": one.measured, "target": one.target, "met": one.met}
            for one in status.criteria
        ],
    }
