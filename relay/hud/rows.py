"""Rows of the results store in the form in which they are read: the columns of the original's table, as JSON.

Owns names and forms only; what is selected is decided by the queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from relay.store.crcr_models import CrcrResult

#: Of `crcr_backend_dashboard` and `crcr_nightly_dashboard`.
CELL_COLUMNS = (
    *("upstream_repo", "pr_number", "pytorch_head_sha", "workflow_name", "job_name", "check_run_id", "run_id"),
    *("run_attempt", "status", "conclusion", "started_at", "completed_at", "duration_seconds", "total_tests"),
    *("passed_tests", "failed_tests", "skipped_tests", "workflow_run_url", "artifact_url", "queue_time"),
    *("execution_time", "failed_tests_json"),
)
#: Of `crcr_pr_results`; the level and the commit are ours, for without them a page cannot tell either.
PULL_COLUMNS = (
    *("downstream_repo", "workflow_name", "job_name", "check_run_id", "run_id", "run_attempt", "status"),
    *("conclusion", "duration_seconds", "workflow_run_url", "artifact_url", "started_at", "queue_time"),
    *("execution_time", "downstream_repo_level", "pytorch_head_sha", "event_type", "triage_verdict"),
)
#: Of `crcr_hud_results`.
GRID_COLUMNS = (
    *("pr_number", "pytorch_head_sha", "downstream_repo", "downstream_repo_level", "workflow_name", "job_name"),
    *("check_run_id", "run_id", "run_attempt", "status", "conclusion", "workflow_run_url", "duration_seconds"),
    *("failed_tests_json",),
)


def written(moment: datetime | None) -> str | None:
    """A moment as every reader parses it."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def duration_seconds(row: CrcrResult) -> int:
    """Whole seconds that a job ran by its own account; 0 while that is not known."""
    if row.started_at is None or row.completed_at is None:
        return 0
    return max(0, int(row.completed_at.timestamp()) - int(row.started_at.timestamp()))


def as_json(row: CrcrResult, columns: Sequence[str], **more: Any) -> dict[str, Any]:
    """These columns of a row, and more of one's own."""
    return {column: _value(row, column) for column in columns} | {name: _plain(value) for name, value in more.items()}


def _value(row: CrcrResult, column: str) -> Any:
    return duration_seconds(row) if column == "duration_seconds" else _plain(getattr(row, column))


def _plain(value: Any) -> Any:
    return written(value) if isinstance(value, datetime) else value


def plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """A selected row as JSON."""
    return {name: _plain(value) for name, value in mapping.items()}
