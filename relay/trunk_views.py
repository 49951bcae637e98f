"""What readers get of the trunk: its commits, and how every job went on each (`GET /api/v1/trunk`).

Titles, job names and addresses come from upstream and from backends: untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from relay.views import Page, View


class Outcome(StrEnum):
    """How a job ended on a commit, or that it has not. `unfinished`: the service or the backend lost the work."""

    PASSED = "passed"
    FAILED = "failed"
    UNFINISHED = "unfinished"
    RUNNING = "running"
    NO_ANSWER = "no_answer"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


#: Worst first: what stands for several jobs, or for several attempts that are all the newest of theirs.
BY_WEIGHT = (
    *(Outcome.FAILED, Outcome.UNFINISHED, Outcome.RUNNING),
    *(Outcome.CANCELLED, Outcome.NO_ANSWER, Outcome.PASSED, Outcome.SKIPPED),
)


class TrunkJob(View):
    """A job that ran on the trunk: where (our device, or a backend's repository), and what it is called there."""

    where: str
    name: str
    ours: bool


class TrunkResult(View):
    """The newest answer of a job on a commit. `attempts` counts it and the ones before; `broken` the tests that speak
    against the commit; `run_id` is None for a backend's job; `url` is empty where there is nothing to open."""

    job: TrunkJob
    outcome: Outcome
    at: datetime
    attempts: int
    broken: int
    run_id: int | None
    url: str


class TrunkCommit(View):
    """A commit that was pushed to the branch. `key` is the id of the run that the push opened."""

    key: int
    sha: str
    title: str
    at: datetime
    results: tuple[TrunkResult, ...]


class TrunkPage(Page):
    """Commits, newest push first. `next_before` is the key to pass as `before` for the older ones."""

    commits: tuple[TrunkCommit, ...]
    next_before: int | None
