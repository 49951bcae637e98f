"""The table fault x invariant, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tests.faults.invariants import INVARIANTS
from tests.faults.story import Told

_SHOWN = 5


def table(told: Sequence[Told]) -> str:
    """One line for each story: `ok`, or how many rows violate an invariant."""
    names = list(INVARIANTS)
    first = max(len(each.plan.name) for each in told)
    head = f"{'':{first}}  " + "  ".join(names) + "  changes  runs  leases/shards  failed  infra  repeated  seconds  processor"
    return "\n".join([head, *(_line(each, names, first) for each in told)])


def _line(told: Told, names: Sequence[str], first: int) -> str:
    marks = (str(len(told.violations[name])) if told.violations[name] else "ok" for name in names)
    cells = "  ".join(f"{mark:>{len(name)}}" for name, mark in zip(names, marks, strict=True))
    figures = told.figures
    leases = f"{figures['leases']}/{figures['shards']}"
    return (
        f"{told.plan.name:{first}}  {cells}  {told.plan.changes:7}  {figures['runs']:4}  {leases:>13}"
        f"  {figures['failed']:6}  {figures['infra']:5}  {figures['repeated']:8}  {told.seconds:7.0f}  {told.processor_s:9.0f}"
    )


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
