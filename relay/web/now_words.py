"""What the page *Now* says: sentences about runs under way, the queue, and workers. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from relay import queue_words
from relay.contract import TestedOn, is_weak_sandbox
from relay.now_views import (
    DeviceNow,
    Expectation,
    ExpectedBy,
    NowView,
    RunNow,
    WorkerDifference,
    WorkerNow,
    WorkerState,
)
from relay.web.wording import Word, duration, number

WORKER_WORDS: Mapping[WorkerState, Word] = {
    WorkerState.WORKING: Word("▶", "at work", "busy", "its heartbeats come"),
    WorkerState.IDLE: Word("○", "idle", "quiet", "waits for work"),
    WorkerState.UNABLE: Word("✗", "cannot work", "bad", "it is there, and takes no work before its trouble is over"),
    WorkerState.SILENT: Word("!", "silent", "warn", "its heartbeats are late; what it works on goes to another"),
    WorkerState.LEFT: Word("◌", "gone", "quiet", "said goodbye"),
}
OVERDUE = Word("◔", "longer than usual", "warn", "takes longer than past runs did")

_SHARE_OVER = 1.1
_NAMES_SHOWN = 5
_BASES = {
    ExpectedBy.PLAN: "from its plan and {}",
    ExpectedBy.KIND: "the median of {} of the same kind",
    ExpectedBy.DEVICE: "the median of {} on this device",
}


def summary(device: DeviceNow) -> str:
    """One line about a device: `2 runs at work, 1 waiting; 2 workers at work, 1 idle`."""
    if not device.running and not device.queued_total:
        return f"Nothing to do; {_staff(device)}."
    return f"{_runs(len(device.running))} at work, {number(device.queued_total)} waiting; {_staff(device)}."


def trouble(device: DeviceNow) -> str:
    """Why what waits may wait for ever, and what to do; empty when all is well."""
    working = any(worker.state is WorkerState.WORKING for worker in device.workers)
    if not device.queued_total or working:
        return ""
    waits = "1 run waits" if device.queued_total == 1 else f"{number(device.queued_total)} runs wait"
    idle = sum(worker.state is WorkerState.IDLE and worker.about is not None for worker in device.workers)
    if not idle:
        unable = [worker.name for worker in device.workers if worker.state is WorkerState.UNABLE]
        though = f", and {_names(tuple(unable))} cannot: see below" if unable else ""
        return f"{waits} and no worker is at work on {device.device}{though}."
    there = "1 worker is there and idle" if idle == 1 else f"{idle} workers are there and idle"
    return f"{waits} and no worker is at work on {device.device}, though {there}: it may not hear the broker."


def advice(device: DeviceNow) -> str:
    """The command that helps against `trouble`."""
    idle = any(worker.state is WorkerState.IDLE and worker.about for worker in device.workers)
    return "relay doctor" if idle else "relay worker"


def timing(run: RunNow) -> str:
    """How long it has been going on, of how long: `4 min 10 s of about 6 min 0 s`."""
    if run.expected is None:
        return f"{duration(run.elapsed_s)} so far"
    return f"{duration(run.elapsed_s)} of about {duration(run.expected.seconds)}"


def basis(expected: Expectation | None) -> str:
    """What an expected duration is drawn from."""
    if expected is None:
        return "no finished run to compare with yet"
    return "expected: " + _BASES[expected.by].format(
        "1 past run" if expected.runs == 1 else f"{expected.runs} past runs"
    )


def overdue(run: RunNow) -> Word | None:
    """The mark of a run that takes clearly longer than expected."""
    return OVERDUE if run.expected and run.elapsed_s > _SHARE_OVER * run.expected.seconds else None


def starts(run: RunNow) -> str:
    """When a waiting run may start."""
    if run.starts_in_s is None:
        return "no guess when it starts"
    return f"starts in about {duration(run.starts_in_s)}" if run.starts_in_s >= 1 else "starts when a worker asks"


def lasts(run: RunNow) -> str:
    """How long a waiting run may take; empty when nothing is known."""
    return f"then takes about {duration(run.expected.seconds)}" if run.expected else ""


def why(run: RunNow) -> str:
    """Why a run waits, and what it is for: `Pull request; older runs go first`; empty when no part of it is due."""
    if run.waiting is None:
        return ""
    sort = queue_words.CLASS_WORDS[run.waiting.work_class]
    return f"{sort[0].upper()}{sort[1:]}; {queue_words.why(run.waiting)}"


def rest(run: RunNow) -> str:
    """Why the other shards of a run at work wait: `What waits of it: older runs go first`."""
    return f"What waits of it: {queue_words.why(run.waiting)}" if run.waiting else ""


def deep(device: DeviceNow) -> str:
    """What back-pressure means; empty where there is none."""
    return queue_words.deep_queue(device.backlog.for_each_worker_s) if device.backlog.deep else ""


def shards(run: RunNow) -> str:
    """How far a run's shards are: `2 of 5 shards done, 2 at work, 1 waiting`."""
    counts = run.shards
    whole = counts.waiting + counts.at_work + counts.ended
    noun = "shard" if whole == 1 else "shards"
    waiting = f", {counts.waiting} waiting" if counts.waiting else ""
    return f"{counts.ended} of {whole} {noun} done, {counts.at_work} at work{waiting}"


def doing(worker: WorkerNow) -> str:
    """What a worker does with its run, or did last; what stands before the run's name."""
    if worker.run_id is None:
        return "has not worked on a run yet"
    if not worker.leased:
        return "last on"
    kind = "chooses tests for" if worker.kind == "select" else "runs tests of"
    return kind if worker.attempt <= 1 else f"{kind} (attempt {worker.attempt})"


def besides(worker: WorkerNow) -> str:
    """What it does besides: `and 2 more shards`; empty when nothing."""
    more = worker.leases - 1
    return "" if more < 1 else "and 1 more shard" if more == 1 else f"and {more} more shards"


def last_word(worker: WorkerNow) -> str:
    """What stands before the moment a worker was last seen."""
    return "last heartbeat" if worker.leased or worker.about else "may be gone; last seen"


def tests_with(worker: WorkerNow) -> str:
    """What a worker tests with: `torch 2.13.0, Python 3.11.7, profile compat, bubblewrap`; of several environments the
    number. Empty when it does not say."""
    if worker.about is None:
        return ""
    where = _environments(worker.about.environments)
    sandbox = _sandbox(worker.about.sandbox)
    slots = f", {worker.about.concurrency} shards at a time" if worker.about.concurrency > 1 else ""
    return ", ".join(filter(None, [where, sandbox])) + slots


def _sandbox(told: str) -> str:
    confined = told.partition(":")[0]
    if not is_weak_sandbox(told):
        return confined
    return "⚠ no sandbox" if confined == "none" else f"⚠ no whole sandbox ({confined})"


def _environments(found: tuple[TestedOn, ...]) -> str:
    if not found:
        return "no environment it can test in"
    first = found[0]
    profile = f", profile {first.device_profile}" if first.device_profile else ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"torch {first.torch_version}, Python {first.python_version}{profile}{more}"


def difference(found: WorkerDifference) -> str:
    """What is not alike: `torch: 2.13.0 (w1, w2), 2.12.1 (w3)`."""
    values = [f"{each.value} ({_names(each.workers)})" for each in found.values]
    return f"{found.trait}: {', '.join(values)}"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more


def announcement(board: NowView) -> str:
    """What a screen reader hears when runs start or end."""
    running = sum(len(device.running) for device in board.devices)
    waiting = sum(device.queued_total for device in board.devices)
    return f"{_runs(running)} at work, {waiting} waiting"


def _staff(device: DeviceNow) -> str:
    states = [worker.state for worker in device.workers]
    counts = [(states.count(state), word.word) for state, word in WORKER_WORDS.items()]
    told = [f"{count} {word}" for count, word in counts if count]
    if not told:
        return "no worker seen in the last day"
    first, noun = told[0].split(" ", 1), "worker" if len(states) == 1 else "workers"
    return ", ".join([f"{first[0]} {noun} {first[1]}" if len(told) == 1 else f"{noun}: {told[0]}", *told[1:]])


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{number(count)} runs"
