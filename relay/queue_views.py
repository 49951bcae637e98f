"""The words of the queue: what runs are for, and why one waits. Shared by the policy, the record and its readers."""

from __future__ import annotations

from enum import StrEnum


class WorkClass(StrEnum):
    """What a run is for, the most urgent first: a merged change, a pull request, the daily run of everything, and what
    is run to see how good the selections are."""

    MERGED = "merged"
    PULL_REQUEST = "pull_request"
    NIGHTLY = "nightly"
    AUDIT = "audit"


class Wait(StrEnum):
    """Why a run is where it is in the queue: it is the next; more urgent work goes first; its group has more workers
    than others, or used more device time; older ones go first; its group has its part of the workers, or nightlies and
    audits together have theirs; or it is held because the queue is deep."""

    NEXT = "next"
    CLASS = "class"
    LEASES = "leases"
    USE = "use"
    AGE = "age"
    GROUP_LIMIT = "group_limit"
    BACKGROUND_LIMIT = "background_limit"
    HELD = "held"
