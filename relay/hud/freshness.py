"""How often a backend's scheduled runs are to report, and whether one is overdue.

Owns the rule and the reading of declared cadences. A row of yesterday looks the same whether the next one is due or
the backend stopped: only its cadence tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from relay.allowlist.types import repo_key

#: A report may be late by half a cadence before it counts as missing.
GRACE = 1.5
#: What is expected of a backend that declares nothing. A periodic run has no common rhythm: nothing is expected of it.
USUAL: Mapping[str, timedelta] = {"nightly": timedelta(hours=24)}


@dataclass(frozen=True, slots=True)
class Cadences:
    """The declared cadences, by (repository's key, event)."""

    declared: Mapping[tuple[str, str], timedelta] = field(default_factory=dict)

    @classmethod
    def read(cls, written: str) -> Cadences:
        """Those of a text that fits `relay.settings.values.CADENCES`; an entry that names no event is for nightly
        runs."""
        entries = [entry.strip().rpartition("=") for entry in written.split(",") if entry.strip()]
        named = [(*name.partition(":"), cadence) for name, _, cadence in entries]
        return cls(
            {
                (repo_key(repo), event or "nightly"): timedelta(hours=int(cadence.removesuffix("h")))
                for repo, _, event, cadence in named
            }
        )

    def of(self, repo: str, event_type: str) -> timedelta | None:
        """How often a backend's runs of this event report; None when nothing is expected."""
        return self.declared.get((repo_key(repo), event_type), USUAL.get(event_type))

    def is_stale(self, repo: str, event_type: str, last: datetime, now: datetime) -> bool:
        """Whether a report is missing, the last one being of this moment."""
        cadence = self.of(repo, event_type)
        return cadence is not None and now - last >= cadence * GRACE

    def judge(self, repo: str, event_type: str, last: datetime, now: datetime) -> dict[str, Any]:
        """The columns `stale` and `expected_every_s` of a backend."""
        cadence = self.of(repo, event_type)
        return {
            "stale": self.is_stale(repo, event_type, last, now),
            "expected_every_s": None if cadence is None else int(cadence.total_seconds()),
        }
