"""The section "Cross-Repo CI Backends" of a pull request's page: a box for each backend (5.4).

Pure: made of the rows that `crcr_pr_results` answers. Boxes are judged by the newest commit that any backend heard of;
what a backend said of older ones is its history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relay.allowlist.types import repo_key
from relay.hud.extract import COMPLETED
from relay.hud.matrix import by_commit, last_attempts
from relay.hud.wording import Tone

Row = Mapping[str, Any]

#: Conclusions of a finished job that are no failure.
_GOOD = frozenset({"success", "skipped"})


@dataclass(frozen=True, slots=True)
class CommitJobs:
    """One backend's jobs on one commit: failed ones first, then running ones, the others, each by name."""

    sha: str
    jobs: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class BackendBox:
    """One backend. `tone` tells of the newest commit: red when a job failed, amber while one runs, green when all is
    well, and no colour while the backend has said nothing about it. `level` is empty when it was never told."""

    repo: str
    level: str
    tone: Tone
    newest: CommitJobs
    history: tuple[CommitJobs, ...]


def backend_boxes(rows: Sequence[Row]) -> tuple[BackendBox, ...]:
    """The backends that reported, by name."""
    if not rows:
        return ()
    commits = [(found[0]["pytorch_head_sha"], found) for found in by_commit(rows)]
    names = {repo_key(row["downstream_repo"]): row["downstream_repo"] for row in rows}
    return tuple(_box(names[key], key, commits) for key in sorted(names))


def _box(repo: str, key: str, commits: Sequence[tuple[str, Sequence[Row]]]) -> BackendBox:
    told = [CommitJobs(sha, _jobs(rows, key)) for sha, rows in commits]
    newest, *older = told
    return BackendBox(repo, _level(told), _tone(newest.jobs), newest, tuple(found for found in older if found.jobs))


def _jobs(rows: Sequence[Row], key: str) -> tuple[Row, ...]:
    own = last_attempts([row for row in rows if repo_key(row["downstream_repo"]) == key])
    return tuple(sorted(own, key=lambda row: (_urgency(row), row["job_name"], row["workflow_name"])))


def _urgency(row: Row) -> int:
    if is_failed(row):
        return 0
    return 2 if row["status"] == COMPLETED else 1


def is_failed(row: Row) -> bool:
    """Whether a finished job is neither a success nor skipped."""
    return row["status"] == COMPLETED and row["conclusion"] not in _GOOD


def _tone(jobs: Sequence[Row]) -> Tone:
    if not jobs:
        return Tone.DEFAULT
    if any(is_failed(job) for job in jobs):
        return Tone.ERROR
    return Tone.SUCCESS if all(job["status"] == COMPLETED for job in jobs) else Tone.WARNING


def _level(told: Sequence[CommitJobs]) -> str:
    """As of the newest commit that it has jobs on."""
    levels = [job["downstream_repo_level"] for found in told for job in found.jobs]
    return next((level for level in levels if level), "")
