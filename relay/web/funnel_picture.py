"""The funnel of a selection as a picture: how many entered a stage and how many left it, from top to bottom.

Geometry only, in units of a narrow view box, so that its words stay readable on a phone. Pure. The same counts stand
beside it in words; widths are on a logarithmic scale, for stages leave a few of very many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from relay.contract import FunnelStep
from relay.web.wording import number, stage_name

WIDTH = 320
_MIDDLE = WIDTH / 2
_WIDEST, _NARROWEST = 148.0, 3.0
#: Heights: of a line with a count, of the slope between two of them, of the gap where the unit is another.
COUNT, SLOPE, _GAP = 20, 30, 8
#: From the top of a line to the foot of its letters.
FOOT = 14
_UNIT_CAP = 18


@dataclass(frozen=True, slots=True)
class Text:
    """Words at a place: of counts the middle of their line."""

    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Band:
    """What a stage does to the stream: `points` outline it, `name` and `loss` stand beside it, `text` says it all."""

    points: str
    y: float
    name: str
    loss: str
    text: str


@dataclass(frozen=True, slots=True)
class Funnel:
    """A funnel ready to be drawn. `label` is its text alternative."""

    label: str
    bands: tuple[Band, ...]
    counts: tuple[Text, ...]
    height: float
    width: int = WIDTH
    middle: float = _MIDDLE


def funnel_picture(steps: Sequence[FunnelStep]) -> Funnel:
    """The stages under each other. Those that count the same things share a scale and stand close."""
    bands: list[Band] = []
    counts: list[Text] = []
    y = 0.0
    for stream in _streams(steps):
        most = max(max(step.entered, step.left) for step in stream)
        y += _GAP if bands else 0
        counts.append(Text(y + FOOT, counted(stream[0].entered, stream[0].unit)))
        for place, step in enumerate(stream):
            top = y if place == 0 else y + COUNT
            bands.append(_band(step, most, top, y + COUNT))
            y += COUNT + SLOPE
            counts.append(Text(y + FOOT, counted(step.left, step.unit)))
        y += COUNT
    return Funnel(_label(steps), tuple(bands), tuple(counts), y)


def _streams(steps: Sequence[FunnelStep]) -> list[list[FunnelStep]]:
    """Stages in a row that count the same: what leaves one enters the next."""
    streams: list[list[FunnelStep]] = []
    for step in steps:
        last = streams[-1][-1] if streams else None
        if last is not None and (last.unit, last.left) == (step.unit, step.entered):
            streams[-1].append(step)
        else:
            streams.append([step])
    return streams


def _band(step: FunnelStep, most: int, top: float, slope: float) -> Band:
    lost = step.entered - step.left
    return Band(
        points=outline(step.entered, step.left, most, top, slope),
        y=slope + SLOPE / 2 + 4,
        name=f"{step.stage} {stage_name(step.stage)}",
        loss=f"\N{MINUS SIGN}{number(lost)}" if lost > 0 else "",
        text=_sentence(step),
    )


def outline(entered: int, left: int, most: int, top: float, slope: float) -> str:
    """From `top` as wide as what enters, from `slope` on narrower, then as wide as what leaves for its count."""
    wide, narrow = _half(entered, most), _half(left, most)
    foot = slope + SLOPE
    sides = ((wide, top), (wide, slope), (narrow, foot), (narrow, foot + COUNT))
    points = [(_MIDDLE - half, y) for half, y in sides] + [(_MIDDLE + half, y) for half, y in reversed(sides)]
    return " ".join(f"{x:.1f},{y:g}" for x, y in points)


def _half(count: int, most: int) -> float:
    """Half of a width; nothing is a point."""
    if count <= 0:
        return 0.0
    return (_NARROWEST + (_WIDEST - _NARROWEST) * math.log1p(count) / math.log1p(most)) / 2


def counted(count: int, unit: str) -> str:
    """A count with its unit, which is cut where it is long."""
    unit = unit.removesuffix("s") if count == 1 else unit
    shown = unit if len(unit) <= _UNIT_CAP else f"{unit[: _UNIT_CAP - 1]}\N{HORIZONTAL ELLIPSIS}"
    return f"{number(count)} {shown}"


def _label(steps: Sequence[FunnelStep]) -> str:
    return f"Funnel. {'; '.join(_sentence(step) for step in steps)}."


def _sentence(step: FunnelStep) -> str:
    flow = f"{number(step.left)} of {number(step.entered)} {step.unit} left it"
    return f"Stage {step.stage}, {stage_name(step.stage)}: {flow}"
