"""Rows as the queries answer them, for the tests of page logic."""

from __future__ import annotations

from typing import Any

S1, S2 = "1" * 40, "2" * 40


def cell(job: str = "build", conclusion: str | None = "success", **changes: Any) -> dict[str, Any]:
    """One job's row; `conclusion` None: it is running."""
    return {
        "workflow_name": "CI",
        "job_name": job,
        "run_id": "100",
        "run_attempt": 1,
        "status": "in_progress" if conclusion is None else "completed",
        "conclusion": conclusion or "",
        "pr_number": 7,
        "pytorch_head_sha": S1,
        "started_at": "2026-11-02T10:00:00.000000Z",
        "sha_since": "2026-11-02T09:00:00.000000Z",
        "downstream_repo": "a/l2",
        "downstream_repo_level": "L2",
    } | changes
