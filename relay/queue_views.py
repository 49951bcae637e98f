"""The words of the queue: what runs are for, and why one waits. Shared by the policy, the record and its readers."""

from __future__ import annotations

from enum import StrEnum

from relay.views import View


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


class Waiting(View):
    """Where the due shards of a run are in the queue of its device, and why. `shards_before` are those that go first.
    `group_leases` of at most `limit` shards are at work for its group while others wait; for `background_limit` they
    are those of all nightlies and audits."""

    work_class: WorkClass
    wait: Wait
    shards_before: int
    group_leases: int
    limit: int


class Backlog(View):
    """How much people wait for on a device: `for_each_worker_s` seconds of work; the queue is `deep` beyond
    `deep_after_s`, 0 where it never is. `workers` counts the shards that can be done at once."""

    workers: int = 0
    for_each_worker_s: float = 0.0
    deep_after_s: float = 0.0
    deep: bool = False
