"""Run the selector on a local change and show what it found. The selector decides; nothing here judges a test."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from relay.cli import text
from relay.cli.change import LocalChange, NoChange
from relay.cli.manifests.folder import read_manifests
from relay.cli.model import budget_of, configured_model
from relay.cli.output import Output, one_line
from relay.settings import RelaySettings
from selector.catalog import CatalogCache
from selector.pipeline import Outcome
from selector.pipeline import select as run_stages
from selector.trees import GitTree, TreeError
from selector.types import Candidate, Reason, SelectionState


def run_selection(
    change: LocalChange,
    settings: RelaySettings,
    *,
    ask_model: bool,
    manifest_folder: Path | None,
    catalog: CatalogCache | None = None,
) -> Outcome:
    """All stages that work without running a test; `catalog` is what was read of upstream's tests before. Raises
    `BadManifests`; `NoChange` when git objects are missing."""
    manifests = read_manifests(manifest_folder) if manifest_folder is not None else None
    with ExitStack() as stack:
        model = stack.enter_context(configured_model(settings)) if ask_model else None
        try:
            base = stack.enter_context(GitTree(change.repo, change.base))
            head = stack.enter_context(GitTree(change.repo, change.head))
            return run_stages(
                *(change.diff, base, head), llm=model, manifests=manifests, budget=budget_of(settings), cache=catalog
            )
        except TreeError as error:
            raise NoChange(str(error)) from error


def show_selection(out: Output, outcome: Outcome, layout: str) -> None:
    """The kept tests: as a table with the funnel, as plain ids, or everything as JSON."""
    if out.as_json:
        out.data(as_object(outcome))
        return
    selection = outcome.selection
    if layout == "ids":
        for candidate in selection.kept:
            out.say(one_line(str(candidate.test), 1_000))
    else:
        _show_table(out, outcome)
    for line in selection.notes:
        out.note(f"note: {one_line(line, 1_000)}")
    if selection.kept:
        out.note(text.selected(len(selection.kept), len(selection.dropped)))
    elif selection.state is SelectionState.NOTHING_AFFECTED:
        out.note(text.nothing_affected())
    else:
        out.note(text.nothing_left(len(selection.dropped)))


def show_explanations(out: Output, outcome: Outcome, names: Sequence[str]) -> None:
    """The chain of reasons of every considered test whose name contains one of `names`; all without names."""
    selection = outcome.selection
    considered = [(True, it) for it in selection.kept] + [(False, it) for it in selection.dropped]
    for name in names:
        if not any(name in str(candidate.test) for _, candidate in considered):
            out.note(text.test_not_considered(name))
    for kept, candidate in considered:
        if names and not any(name in str(candidate.test) for name in names):
            continue
        decision = text.kept_or_dropped(kept, candidate.must_run)
        out.say(f"{one_line(str(candidate.test), 1_000)}: {decision}")
        for reason in candidate.reasons:
            out.say(
                f"  stage {reason.stage:d} {one_line(reason.rule)}: {one_line(reason.evidence, 1_000)}{_score(reason)}"
            )


def as_object(outcome: Outcome) -> dict[str, object]:
    """The whole outcome for programs. The keys are those of the relay's own messages where both have them."""
    selection = outcome.selection
    return {
        "state": selection.state.value,
        "funnel": [
            {
                "stage": int(step.stage),
                "name": step.stage.name.lower(),
                "entered": step.entered,
                "left": step.left,
                "unit": step.unit,
                "summary": step.summary,
            }
            for step in selection.funnel
        ],
        "changed_files": [
            {"path": it.path, "status": it.status, "category": it.category, "symbols": it.symbols, "noop": it.noop}
            for it in outcome.change.files
        ],
        "decisions": [_decision(it, True) for it in selection.kept]
        + [_decision(it, False) for it in selection.dropped],
        "notes": selection.notes,
    }


def _decision(candidate: Candidate, kept: bool) -> dict[str, object]:
    reasons = [
        {"stage": int(it.stage), "rule": it.rule, "evidence": it.evidence, "score": it.score}
        for it in candidate.reasons
    ]
    return {
        "test": str(candidate.test),
        "kept": kept,
        "must_run": candidate.must_run,
        "score": candidate.score,
        "reasons": reasons,
    }


def _show_table(out: Output, outcome: Outcome) -> None:
    rows = [
        (
            f"{step.stage:d}",
            step.stage.name.lower(),
            str(step.entered),
            str(step.left),
            step.unit,
            one_line(step.summary),
        )
        for step in outcome.selection.funnel
    ]
    out.table(("STAGE", "", "IN", "OUT", "OF", "WHY"), rows)
    if not outcome.selection.kept:
        return
    out.say()
    kept = [
        (one_line(str(it.test), 1_000), "must run" if it.must_run else f"{it.score:.2f}", _last_reason(it))
        for it in outcome.selection.kept
    ]
    out.table(("TEST", "SCORE", "REASON"), kept)


def _last_reason(candidate: Candidate) -> str:
    if not candidate.reasons:
        return ""
    reason = candidate.reasons[-1]
    return f"{one_line(reason.rule)}: {one_line(reason.evidence, 120)}"


def _score(reason: Reason) -> str:
    return "" if reason.score is None else f" ({reason.score:.2f})"
