"""What pages, command line and workers' notes say about the queue, so that all say the same. Pure."""

from __future__ import annotations

from relay.queue_views import Wait, Waiting, WorkClass

CLASS_WORDS = {
    WorkClass.MERGED: "merged change",
    WorkClass.PULL_REQUEST: "pull request",
    WorkClass.NIGHTLY: "daily audit",
    WorkClass.AUDIT: "audit",
}

_WHY = {
    Wait.NEXT: "it is the next and waits for a worker alone",
    Wait.CLASS: "more urgent runs go first",
    Wait.LEASES: "others go first that have fewer workers than its {0}",
    Wait.USE: "others go first that used less device time in the last hour",
    Wait.AGE: "older runs go first",
    Wait.GROUP_LIMIT: "it has its part of the workers ({0} of {1}) while others wait",
    Wait.BACKGROUND_LIMIT: "audits have their part of the workers ({0} of {1}) while others wait",
    Wait.HELD: "it is held while the queue is deep",
}


def why(waiting: Waiting) -> str:
    """Why a run waits, in half a sentence."""
    return _WHY[waiting.wait].format(waiting.group_leases, waiting.limit)


def deep_queue(backlog_s: float) -> str:
    """That there is back-pressure, and what it means."""
    return (
        f"The queue is deep, about {about(backlog_s)} of work for each worker: audits are held, and pull requests may "
        "plan less beside what must run. Nothing is dropped."
    )


def smaller_budget(budget_s: float, backlog_s: float) -> str:
    """The note of a run that may plan less than usual."""
    return (
        f"The queue is deep, about {about(backlog_s)} of work for each worker, so this run may plan {about(budget_s)} "
        "of tests beside those that must run. A rerun by hand is not cut."
    )


def about(seconds: float) -> str:
    """A rough duration: `50 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
