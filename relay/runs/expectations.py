"""How long a run will take, by how long past runs took. Reads only; the arithmetic is in pure functions.

A run's tests are known with their recorded seconds once it is planned, and past runs tell how much longer than its
tests a run takes. Before that, runs of the same kind are the best guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.now_views import Expectation, ExpectedBy
from relay.store.models import Run, Selection
from relay.views import RunState

#: Runs looked at for each device, the newest ones.
RUNS = 40
#: Fewer than these say little.
ENOUGH = 3
#: Ids further back than this are not looked at, so that the question costs the same however long the record is.
_REACH = 2_000
#: Plans of less (seconds) are all overhead: how much longer a run takes than its tests says nothing then.
_SMALL_PLAN_S = 1.0


class RunKind(StrEnum):
    """Runs that are alike in what they run."""

    SELECTION = "selection"
    FULL = "full"
    SINGLE = "single"


@dataclass(frozen=True, slots=True)
class PastRun:
    """How long a finished run took, and its tests by its plan (0 when it had no expectation). Seconds."""

    kind: RunKind
    took_s: float
    planned_s: float


def kind_of(full: str, only: Sequence[str]) -> RunKind:
    """`full` says why everything runs, empty when it does not; `only` are the single tests that were asked for."""
    if full:
        return RunKind.FULL
    return RunKind.SINGLE if only else RunKind.SELECTION


def past_runs(session: Session, devices: Iterable[str]) -> dict[str, list[PastRun]]:
    """The newest finished runs of each device, in one query."""
    oldest = select(func.max(Run.id) - _REACH).scalar_subquery()
    ranked = (
        select(
            *(Run.id, Run.device, Run.full, Run.only, Run.started_at, Run.finished_at),
            func.row_number().over(partition_by=Run.device, order_by=Run.id.desc()).label("rank"),
        )
        .where(Run.state == RunState.FINISHED, Run.device.in_(sorted(set(devices))))
        .where(Run.started_at.is_not(None), Run.id > oldest)
        .subquery()
    )
    query = (
        select(ranked, Selection.expected_seconds)
        .outerjoin(Selection, Selection.run_id == ranked.c.id)
        .where(ranked.c.rank <= RUNS)
    )
    found: dict[str, list[PastRun]] = {}
    for row in session.execute(query):
        took_s = max(0.0, (row.finished_at - row.started_at).total_seconds())
        past = PastRun(kind_of(row.full, row.only), took_s, row.expected_seconds or 0.0)
        found.setdefault(row.device, []).append(past)
    return found


def plans_of(session: Session, run_ids: Sequence[int]) -> Mapping[int, float]:
    """The seconds of the planned tests of each run."""
    query = select(Selection.run_id, Selection.expected_seconds).where(Selection.run_id.in_(run_ids))
    return {row[0]: row[1] for row in session.execute(query)}


def expect(past: Sequence[PastRun], kind: RunKind, planned_s: float) -> Expectation | None:
    """How long a run of this kind takes, whose planned tests take `planned_s` seconds; None when nothing like it was
    ever finished."""
    if planned_s >= _SMALL_PLAN_S:
        ratios = [run.took_s / run.planned_s for run in past if run.planned_s >= _SMALL_PLAN_S]
        if len(ratios) >= ENOUGH:
            return Expectation(seconds=planned_s * median(ratios), runs=len(ratios), by=ExpectedBy.PLAN)
    alike = [run.took_s for run in past if run.kind is kind]
    if len(alike) >= ENOUGH:
        return Expectation(seconds=median(alike), runs=len(alike), by=ExpectedBy.KIND)
    if past:
        took = [run.took_s for run in past]
        return Expectation(seconds=median(took), runs=len(took), by=ExpectedBy.DEVICE)
    return None
