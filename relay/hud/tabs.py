"""The tabs of the pages about backends, and which finished jobs each shows (5.1, 5.2).

Owns the terms of a tab. A pull request's tab goes by the number: results of a tagged push belong to it as well.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_

from relay.allowlist.types import Participation, repo_key
from relay.hud.counting import completed_since, range_start
from relay.store.crcr_models import CrcrResult


class Tab(StrEnum):
    """What made the jobs run. The value is also the type of event of scheduled jobs."""

    PULL_REQUEST = "pull_request"
    NIGHTLY = "nightly"
    PERIODIC = "periodic"

    @property
    def scheduled(self) -> bool:
        """Whether its jobs run by the clock and not for a change."""
        return self is not Tab.PULL_REQUEST

    @property
    def participation(self) -> Participation:
        """What a backend must take part in to be expected here."""
        return Participation.NIGHTLY if self.scheduled else Participation.PULL_REQUEST


def finished_jobs(repo: str, tab: Tab, *, days: int, now: datetime) -> ColumnElement[bool]:
    """One backend's finished jobs on a tab, in a range that ends now."""
    return and_(CrcrResult.repo_key == repo_key(repo), all_finished_jobs(tab, days=days, now=now))


def all_finished_jobs(tab: Tab, *, days: int, now: datetime) -> ColumnElement[bool]:
    """Everybody's finished jobs on a tab, in a range that ends now."""
    of_tab: ColumnElement[bool] = CrcrResult.event_type == tab.value if tab.scheduled else CrcrResult.pr_number > 0
    return and_(completed_since(range_start(now, days)), of_tab)
