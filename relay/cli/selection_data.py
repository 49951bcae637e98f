"""A selection for programs: one JSON object, or one line for each test. The keys are those of the relay's own messages
where both have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from relay.cli.selection import LocalSelection
from selector.change import ChangeSet
from selector.explanation import as_object, explain, summarise
from selector.types import Candidate, Selection, Stage, StageCount


def whole(selected: LocalSelection) -> dict[str, object]:
    """Everything about a selection."""
    outcome = selected.outcome
    selection, page = outcome.selection, summarise(outcome.selection)
    return {
        "state": selection.state.value,
        "plan_key": selection.key,
        "cost": None if selection.cost is None else asdict(selection.cost),
        "summary": {"counts": [asdict(tally) for tally in page.tallies], "would_change_it": page.changes},
        "funnel": [_step(step) for step in selection.funnel],
        "changed_files": list(changed_files(outcome.change)),
        "decisions": decisions(selected),
        "notes": selection.notes,
    }


def changed_files(change: ChangeSet) -> Iterator[dict[str, object]]:
    """What stage 1 saw in each file."""
    for it in change.files:
        yield {
            "path": it.path,
            "status": it.status,
            "category": it.category,
            "symbols": it.symbols,
            "noop": it.noop,
        }


def funnel_step(selection: Selection, stage: Stage) -> dict[str, object] | None:
    """The counts of a stage, None for one that a selection did not come to."""
    return next((_step(step) for step in selection.funnel if step.stage is stage), None)


def _step(step: StageCount) -> dict[str, object]:
    return {
        "stage": int(step.stage),
        "name": step.stage.name.lower(),
        "entered": step.entered,
        "left": step.left,
        "unit": step.unit,
        "summary": step.summary,
    }


def records(selected: LocalSelection, names: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """One record for each considered test, in the order of the plan; of those whose name contains one of `names`."""
    for record in explain(selected.outcome.selection, selected.manifests):
        if not names or any(name in record.test for name in names):
            yield as_object(record)


def decisions(selected: LocalSelection) -> list[dict[str, object]]:
    """The records with their whole chains of reasons."""
    considered = considered_in(selected.outcome.selection)
    return [
        {**record, **chain_of(candidate, kept)}
        for (candidate, kept), record in zip(considered, records(selected), strict=True)
    ]


def considered_in(selection: Selection) -> list[tuple[Candidate, bool]]:
    """Every considered test, and whether it runs."""
    return [(it, True) for it in selection.kept] + [(it, False) for it in selection.dropped]


def chain_of(candidate: Candidate, kept: bool) -> dict[str, object]:
    """The reasons of all stages, oldest first."""
    reasons = [
        {"stage": int(it.stage), "rule": it.rule, "evidence": it.evidence, "score": it.score}
        for it in candidate.reasons
    ]
    return {"kept": kept, "must_run": candidate.must_run, "reasons": reasons}
