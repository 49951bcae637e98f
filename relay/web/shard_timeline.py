"""The shards of a run on a time line: a lane for each, from the run's arrival to its end or to now.

Geometry only: places are percents of the time, so that a lane is as wide as its page and its words are not scaled.
Pure. The table of shards says the same in figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from relay.runs.shard_history import Ending, Lane, Phase, Span
from relay.web import shard_words as words

#: Lanes drawn; a run of more shards has the others in its table.
LANES_CAP = 60
_TICKS = 6
#: What is short is drawn so wide all the same (percent).
_LEAST = 0.6
_STEPS_S = (
    *(0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200),
)
_DAY_S = 86_400
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


@dataclass(frozen=True, slots=True)
class Bar:
    """A phase from `x` on, so wide, both in percent; `lost`: a lease that ended without the work ends here."""

    x: float
    width: float
    phase: Phase
    lost: bool
    text: str

    @property
    def end(self) -> float:
        return self.x + self.width


@dataclass(frozen=True, slots=True)
class Drawn:
    """A lane with its bars; `label` is its text alternative. `waited` and `worked` are for the table."""

    shard_id: int
    name: str
    worker: str
    bars: tuple[Bar, ...]
    label: str
    waited: str
    worked: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A moment after the start, at a place in percent."""

    at: float
    word: str


@dataclass(frozen=True, slots=True)
class TimeLine:
    """Lanes ready to be drawn, `more` of them not, and the phases there are, for the legend."""

    lanes: tuple[Drawn, ...]
    more: int
    ticks: tuple[Tick, ...]
    phases: tuple[Phase, ...]
    losses: bool

    def of(self, shard_id: int) -> Drawn | None:
        """The lane of a shard, drawn or not."""
        return next((lane for lane in self.lanes if lane.shard_id == shard_id), None)


def time_line(lanes: Sequence[Lane], start: datetime, end: datetime) -> TimeLine | None:
    """From `start` to `end`, which is now for a run that goes on; None before anything has happened."""
    seconds = (end - start).total_seconds()
    if seconds <= 0 or not any(lane.spans for lane in lanes):
        return None
    drawn = tuple(_drawn(lane, start, end) for lane in lanes)
    spans = [span for lane in lanes[:LANES_CAP] for span in lane.spans]
    return TimeLine(
        lanes=drawn,
        more=max(0, len(drawn) - LANES_CAP),
        ticks=_ticks(seconds),
        phases=tuple(phase for phase in Phase if any(span.phase is phase for span in spans)),
        losses=any(map(_lost, spans)),
    )


def _drawn(lane: Lane, start: datetime, end: datetime) -> Drawn:
    at_work = [phase for phase in Phase if phase is not Phase.WAITING]
    return Drawn(
        shard_id=lane.shard_id,
        name=words.lane_name(lane),
        worker=words.last_worker(lane),
        bars=tuple(_bar(span, start, end) for span in lane.spans),
        label=words.about_lane(lane, start, end),
        waited=words.spent(lane.spans, [Phase.WAITING], end),
        worked=words.spent(lane.spans, at_work, end),
    )


def _bar(span: Span, start: datetime, end: datetime) -> Bar:
    whole = (end - start).total_seconds()
    first = _percent((span.begin - start).total_seconds(), whole)
    last = _percent(((span.end or end) - start).total_seconds(), whole)
    width = max(last - first, _LEAST)
    return Bar(min(first, 100 - width), width, span.phase, _lost(span), words.about_span(span, start, end))


def _lost(span: Span) -> bool:
    return span.phase is not Phase.WAITING and span.ending in (Ending.GIVEN_BACK, Ending.LOST)


def _percent(part: float, whole: float) -> float:
    return min(max(100 * part / whole, 0.0), 100.0)


def _ticks(seconds: float) -> tuple[Tick, ...]:
    """The start and a few round moments after it, none so near to the end that its word would not fit."""
    step = next((step for step in _STEPS_S if step * _TICKS >= seconds), None)
    if step is None:
        days = seconds / _DAY_S / _TICKS
        step = _DAY_S * max(1, round(days + 0.5))
    count = int(seconds / step)
    return tuple(Tick(100 * step * place / seconds, _moment(step * place)) for place in range(count + 1))


def _moment(seconds: float) -> str:
    if not seconds:
        return "0"
    unit, size = next(((unit, size) for unit, size in _UNITS if seconds >= size), _UNITS[-1])
    return f"{seconds / size:.3g} {unit}"
