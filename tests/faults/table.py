"""The table fault x invariant, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tests.faults.invariants import INVARIANTS
from tests.faults.story import Told

_SHOWN = 5
#: Of each story, beside what must hold: runs and leases for their shards; runs that failed by the service's own fault
#: and tests without an answer in finished ones; dispatches that were sent again; seconds, and those of the processor.
_FIGURES = ("runs", "leases", "failed", "infra", "repeated", "wall s", "cpu s")


def table(told: Sequence[Told]) -> str:
    """One line for each story: `ok`, or how many rows violate an invariant; then its figures."""
    rows = [("", *INVARIANTS, *_FIGURES), *(_cells(each) for each in told)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_aligned(row, widths) for row in rows)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    return "  ".join(
        [f"{first:{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))]
    )


def _cells(told: Told) -> tuple[str, ...]:
    marks = (str(len(told.violations[name])) if told.violations[name] else "ok" for name in INVARIANTS)
    figures = told.figures
    leases = f"{figures['leases']}/{figures['shards']}"
    counted = (figures["runs"], leases, figures["failed"], figures["infra"], figures["repeated"])
    return (told.plan.name, *marks, *map(str, counted), f"{told.seconds:.0f}", f"{told.processor_s:.0f}")


def story(told: Told) -> str:
    """What happened, and every kind of violation with its first rows."""
    lines = [f"{told.plan.name} (seed {told.plan.seed}): {', '.join(f'{k} {v}' for k, v in told.figures.items())}"]
    lines += [f"  {strike}" for strike in told.strikes]
    for name, rows in told.violations.items():
        lines += [f"  VIOLATED {name}: {row}" for row in rows[:_SHOWN]]
        lines += [f"  ... and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    lines += [f"  logs: {told.folder}"] if told.folder else []
    return "\n".join(lines)


def document(told: Sequence[Told]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "fault": each.plan.name,
            "seed": each.plan.seed,
            "changes": each.plan.changes,
            "holds": each.holds,
            "violations": {name: list(rows) for name, rows in each.violations.items()},
            "strikes": list(each.strikes),
            "plan": asdict(each.plan)["strikes"],
            "seconds": round(each.seconds, 1),
            "processor_seconds": round(each.processor_s, 1),
            "figures": dict(each.figures),
        }
        for each in told
    ]
