"""The funnel of an upgrade report as a picture: from every variant down to the causes to look at.

Geometry only, drawn as the funnel of a selection is (`relay.web.funnel_picture`). Here all steps share one scale,
although their units differ: variants become tests, and tests causes. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from relay.upgrade import words as report_words
from relay.upgrade.document import FunnelPart
from relay.web.funnel_picture import COUNT, FOOT, SLOPE, Band, Funnel, Text, counted, outline
from relay.web.wording import number

_NAME_CAP = 13


def upgrade_funnel(steps: Sequence[FunnelPart]) -> Funnel | None:
    """The steps under each other; None where there are not two, for then there is nothing to see. The duties are parts
    beside each other, of which neither is what is left of the other: they stand in words only."""
    steps = [step for step in steps if step.name not in report_words.DUTIES]
    if len(steps) < 2:
        return None
    most = max(1, *(step.left for step in steps))
    high = COUNT + SLOPE
    counts = [Text(place * high + FOOT, counted(step.left, step.unit)) for place, step in enumerate(steps)]
    bands = [_band(place, before, after, most) for place, (before, after) in enumerate(pairwise(steps))]
    label = "; ".join(_sentence(step) for step in steps)
    return Funnel(f"Funnel. {label}.", tuple(bands), tuple(counts), (len(steps) - 1) * high + COUNT)


def _band(place: int, before: FunnelPart, after: FunnelPart, most: int) -> Band:
    """Where the unit is another, nothing was left out: it is counted otherwise."""
    top = place * (COUNT + SLOPE)
    slope = top + COUNT
    lost = before.left - after.left if before.unit == after.unit else 0
    return Band(
        points=outline(before.left, after.left, most, top if place == 0 else slope, slope),
        y=slope + SLOPE / 2 + 4,
        name=after.name if len(after.name) <= _NAME_CAP else f"{after.name[: _NAME_CAP - 1]}\N{HORIZONTAL ELLIPSIS}",
        loss=f"\N{MINUS SIGN}{number(lost)}" if lost > 0 else "",
        text=_sentence(after),
    )


def _sentence(step: FunnelPart) -> str:
    return f"{step.name}: {number(step.left)} {step.unit}"
