"""What readers get about a change, a pull request or a commit: `GET /api/v1/pulls/{number}` and `/commits/{sha}`.

Everything that quotes upstream is untrusted text.
"""

from __future__ import annotations

from enum import StrEnum

from relay.views import RunSummary, TestView, View


class ChangeGroup(StrEnum):
    """What a test says about a change, worst first: it breaks with it, flakes, passes where it failed before, fails
    without it too or was expected to fail, has no answer or none yet, or is as it should be."""

    NEW = "new"
    FLAKY = "flaky"
    FIXED = "fixed"
    KNOWN = "known"
    NO_ANSWER = "no_answer"
    WAITING = "waiting"
    FINE = "fine"


class BaseComparison(View):
    """Numbers of tests that ran on the base too, by how they did with the change and without it; `unsure` are those of
    two minds on the base. `reused` were not run there again, because an earlier run of the same base knew."""

    compared: int = 0
    fine: int = 0
    broken: int = 0
    fixed: int = 0
    failing: int = 0
    unsure: int = 0
    reused: int = 0


class DeviceAnswer(View):
    """What the change's newest commit has come to on one device: the run of its whole plan, and the tests by group."""

    device: str
    run: RunSummary
    counts: dict[ChangeGroup, int]


class ChangeView(View):
    """A change by its newest commit, on one device; `devices` has the short answers of all that it was tested on. `run`
    did its whole plan, `repeats` are the runs of single tests of it again, oldest first; of each test the newest answer
    counts, and one that broke and is fine again is flaky. `tests` are the first of every group but `fine`, `counts`
    those of all. `runs` are the newest of the change, newest first; `cut`: there are older ones."""

    repo: str
    pr_number: int | None
    head_sha: str
    run: RunSummary
    repeats: tuple[int, ...]
    counts: dict[ChangeGroup, int]
    tests: dict[ChangeGroup, tuple[TestView, ...]]
    base: BaseComparison
    runs: tuple[RunSummary, ...]
    cut: bool
    devices: tuple[DeviceAnswer, ...] = ()
