"""Tells how the tests of a report ended on both releases, once both of its runs are over.

A chore of the sweep, so that it is done whoever asked for the runs and however they ended. The judging is the
selector's (`selector.upgrade.outcomes`); here are the rows it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased, selectinload

from relay.contract import Tree
from relay.runs.states import FINAL_RUN_STATES
from relay.store.engine import Store
from relay.store.models import PlannedTest, Run
from relay.store.upgrade_models import Upgrade
from relay.upgrade.document import OutcomesPart
from relay.upgrade.keeping import text_of
from relay.upgrade.reading import read_report
from relay.upgrade.writing import outcomes_part
from selector.manifests.authoring.results import Observation, ObservedTest
from selector.types import BaseTest, CollectedTest
from selector.upgrade.outcomes import Results, compare_outcomes
from selector.upgrade.types import OutcomeDifference

#: Outcomes that are kept of one report, the most pressing first.
OUTCOMES_CAP = 2_000
_ROWS_AT_ONCE = 1_000


def settle_upgrades(store: Store) -> None:
    """Settle every report whose runs are both over and that is not settled yet."""
    with store.reading() as session:
        due = unsettled(session)
    for upgrade_id, *runs in due:
        # Nobody is kept from writing while results are compared: there may be a hundred thousand of them.
        with store.reading() as session:
            outcomes = _compared(session, upgrade_id)
        with store.writing() as session:
            upgrade = session.get_one(Upgrade, upgrade_id)
            if [upgrade.base_run_id, upgrade.head_run_id] == runs:
                upgrade.outcomes = outcomes.model_dump(mode="json")


def unsettled(session: Session) -> tuple[tuple[int, int | None, int | None], ...]:
    """The reports whose runs are both over and whose outcomes are not told yet, each with its runs."""
    base, head = aliased(Run), aliased(Run)
    columns = select(Upgrade.id, Upgrade.base_run_id, Upgrade.head_run_id)
    query = columns.join(base, base.id == Upgrade.base_run_id).join(head, head.id == Upgrade.head_run_id)
    over = base.state.in_(FINAL_RUN_STATES), head.state.in_(FINAL_RUN_STATES)
    rows = session.execute(query.where(*over, Upgrade.outcomes.is_(None)).order_by(Upgrade.id)).all()
    return tuple((upgrade_id, base_id, head_id) for upgrade_id, base_id, head_id in rows)


def _compared(session: Session, upgrade_id: int) -> OutcomesPart:
    """How both runs of a report differ."""
    upgrade = session.get_one(Upgrade, upgrade_id)
    report = read_report(text_of(upgrade))
    runs = [session.get_one(Run, run_id) for run_id in (upgrade.base_run_id, upgrade.head_run_id)]
    before, after = (
        Results(name, tuple(_attempts(session, run)))
        for name, run in zip((upgrade.base, upgrade.head), runs, strict=True)
    )
    found = compare_outcomes(before, after, report.difference, report.operators, upgrade.device)
    notes = (*found.notes, *_silent(runs), *_left_out(found))
    return outcomes_part(replace(found, outcomes=found.outcomes[:OUTCOMES_CAP], notes=notes))


def _attempts(session: Session, run: Run) -> Iterator[ObservedTest]:
    """What was seen in a run: a test's tries one after the other, those beside the first tree before the last."""
    query = select(PlannedTest).where(PlannedTest.run_id == run.id).options(selectinload(PlannedTest.attempts))
    for row in session.scalars(query.order_by(PlannedTest.id).execution_options(yield_per=_ROWS_AT_ONCE)):
        test = _collected(row)
        for tried in sorted(row.attempts, key=lambda it: (it.tree is Tree.HEAD, it.number)):
            seen = Observation(tried.observation.value)
            yield ObservedTest(test, seen, run=str(run.id), duration_s=tried.duration_s, detail=tried.detail)


def _collected(row: PlannedTest) -> CollectedTest:
    base = base_test(row.base)
    return CollectedTest(row.test_id, row.file, base.cls, base.name, row.test_id.rpartition("::")[2])


def base_test(name: str) -> BaseTest:
    """`file::Class::method`, taken apart. Classes may stand in classes."""
    file, *rest = name.split("::")
    return BaseTest(file, "::".join(rest[:-1]), rest[-1] if rest else "")


def _silent(runs: list[Run]) -> Iterator[str]:
    """Why a release has no results."""
    for run in runs:
        if run.not_tested is not None:
            yield f"Run {run.id} tested nothing: {run.not_tested.get('detail', '')}"
        elif run.conclusion is None:
            yield f"Run {run.id} was {run.state}: {run.headline}"


def _left_out(found: OutcomeDifference) -> Iterator[str]:
    if len(found.outcomes) > OUTCOMES_CAP:
        yield f"{len(found.outcomes) - OUTCOMES_CAP} of {len(found.outcomes)} tests are not listed; the runs have all."
