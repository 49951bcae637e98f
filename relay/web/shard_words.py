"""Every word about the time line of shards: what a phase is called, and what a bar stands for. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from relay.runs.shard_history import Ending, Lane, Phase, Span
from relay.views import Balance
from relay.web.wording import duration, number


@dataclass(frozen=True, slots=True)
class PhaseWord:
    """How a phase is called, and what is meant by it."""

    word: str
    meaning: str


PHASE_WORDS: Mapping[Phase, PhaseWord] = {
    Phase.WAITING: PhaseWord("waiting", "no worker has it"),
    Phase.SELECTING: PhaseWord("selecting", "a worker chooses tests and collects them"),
    Phase.STARTING: PhaseWord("starting", "a worker has it, and no result is in yet"),
    Phase.RUNNING: PhaseWord("running", "results come in"),
}
LOST = PhaseWord("lost", "the lease ended without the work")

_ENDED = {Ending.GIVEN_BACK: "given back", Ending.LOST: "lost"}
_WHY_CAP = 300
_WORKER_CAP = 60


def lane_name(lane: Lane) -> str:
    """`shard 7`, as the table has it."""
    return f"shard {lane.shard_id}"


def last_worker(lane: Lane) -> str:
    """Who had it last, cut to what fits."""
    worker = next((span.worker for span in reversed(lane.spans) if span.worker), "")
    return worker if len(worker) <= _WORKER_CAP else f"{worker[: _WORKER_CAP - 1]}\N{HORIZONTAL ELLIPSIS}"


def about_span(span: Span, start: datetime, now: datetime) -> str:
    """`running for 3 min 2 s, from 41 s on, attempt 2 by worker-1; lost: ...`."""
    took = duration(_seconds(span.begin, span.end or now))
    begun = duration(_seconds(start, span.begin)) if span.begin > start else "the start"
    parts = [f"{PHASE_WORDS[span.phase].word} for {took}{'' if span.end else ' so far'}", f"from {begun} on"]
    if span.worker:
        parts.append(f"attempt {number(span.attempt)} by {span.worker[:_WORKER_CAP]}")
    return ", ".join(parts) + _ended(span)


def _ended(span: Span) -> str:
    """What never began cannot be lost."""
    why = span.why[:_WHY_CAP]
    if span.ending not in _ENDED or span.phase is Phase.WAITING:
        return f"; {why}" if why else ""
    return f"; {_ENDED[span.ending]}{': ' if why else ''}{why}"


def about_lane(lane: Lane, start: datetime, now: datetime) -> str:
    """A lane in words, its text alternative."""
    told = "; ".join(about_span(span, start, now) for span in lane.spans)
    return f"{lane_name(lane).capitalize()}: {told or 'not reached'}"


def spent(spans: Sequence[Span], phases: Sequence[Phase], now: datetime) -> str:
    """How long the shard was in these phases, over all attempts; a dash for never."""
    took = [_seconds(span.begin, span.end or now) for span in spans if span.phase in phases]
    return duration(sum(took)) if took else "\N{EN DASH}"


def balance(found: Balance | None) -> str:
    """How evenly shards share a run's work: `The longest of 4 shards of tests was planned at 1.1 times the mean one,
    and took 1.3 times.`; empty where there is nothing to tell."""
    if found is None or (found.expected is None and found.measured is None):
        return ""
    told = []
    if found.expected is not None:
        told.append(f"was planned at {found.expected:.1f} times the mean one")
    if found.measured is not None:
        told.append(f"took {found.measured:.1f} times{'' if told else ' the mean one'}")
    return f"The longest of {number(found.shards)} shards of tests {', and '.join(told)}."


def _seconds(begin: datetime, end: datetime) -> float:
    return max(0.0, (end - begin).total_seconds())
