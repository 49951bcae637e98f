"""Whether the relay itself works, by the jobs of the probe backend (5.1).

Pure: made of the rows that `crcr_health_last_prs` and, for the probe, `crcr_nightly_dashboard` answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from relay.hud.backend_pages import run_of
from relay.hud.counting import as_expected
from relay.hud.extract import COMPLETED

Row = Mapping[str, Any]

#: How many pull requests, and how many scheduled runs of how many days, are looked at.
PULLS_JUDGED = 5
RUNS_JUDGED = 5
NIGHTLY_DAYS = 14


class Health(StrEnum):
    """What the card says."""

    HEALTHY = "Healthy"
    DEGRADED = "Degraded"
    NO_DATA = "No Data"


def relay_health(rows: Sequence[Row]) -> Health:
    """Healthy when on each pull request every job of the probe ended as meant, and none is overdue."""
    judged = rows[:PULLS_JUDGED]
    return _health([row["pass_rate"] == 1 and not row["overdue"] for row in judged])


def nightly_health(rows: Sequence[Row]) -> Health:
    """Healthy when each of the last runs passed; rows come newest first."""
    runs = passed_runs(rows)
    return _health(list(runs.values())[:RUNS_JUDGED])


def passed_runs(rows: Sequence[Row]) -> dict[str, bool]:
    """Of each run, newest first, whether every job of it ended as meant. One that did not end did not."""
    runs: dict[str, bool] = {}
    for row in rows:
        run = run_of(row["pytorch_head_sha"], row["run_id"])
        runs[run] = runs.get(run, True) and _passed(row)
    return runs


def _passed(row: Row) -> bool:
    return row["status"] == COMPLETED and as_expected(row["job_name"], row["conclusion"])


def _health(passed: Sequence[bool]) -> Health:
    if not passed:
        return Health.NO_DATA
    return Health.HEALTHY if all(passed) else Health.DEGRADED
