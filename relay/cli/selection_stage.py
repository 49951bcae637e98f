"""One stage of a selection: what came in, what it said of it, and what it let through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import typer

from relay.cli import selection_text
from relay.cli.output import Output, one_line
from relay.cli.selection import LocalSelection
from relay.cli.selection_data import changed_files, considered_in, funnel_step
from relay.cli.selection_page import said, show_ids, show_pytest
from selector.explanation import TAKES_ALL, Decision, decision_of
from selector.types import Candidate, Stage


@dataclass(frozen=True, slots=True)
class Seen:
    """A test as it leaves a stage."""

    candidate: Candidate
    goes_on: bool

    def reasons(self, stage: Stage) -> list[str]:
        return [said(reason) for reason in self.candidate.reasons if reason.stage is stage]

    def as_object(self, stage: Stage) -> dict[str, object]:
        """For programs."""
        own = [reason for reason in self.candidate.reasons if reason.stage is stage]
        return {
            "test": str(self.candidate.test),
            "goes_on": self.goes_on,
            "reasons": [{"rule": it.rule, "evidence": it.evidence, "score": it.score} for it in own],
        }


def show_stage(out: Output, selected: LocalSelection, stage: Stage, layout: str, names: Sequence[str]) -> None:
    """Write it in one of the formats of `relay select`. Raises a usage error for files as a list of tests."""
    if stage is Stage.CHANGE and layout in {"ids", "pytest"}:
        raise typer.BadParameter(selection_text.files_are_no_tests(), param_hint="--format")
    seen = [it for it in leaving(selected, stage) if not names or any(n in str(it.candidate.test) for n in names)]
    if out.as_json:
        out.data(_as_object(selected, stage, seen))
    elif layout == "jsonl":
        for record in _records(selected, stage, seen):
            out.data(record)
    elif layout in {"ids", "pytest"}:
        going = [it.candidate for it in seen if it.goes_on]
        (show_ids if layout == "ids" else show_pytest)(out, going)
    elif stage is Stage.CHANGE:
        _show_files(out, selected)
    else:
        _show_tests(out, seen, stage)
    if not out.as_json:
        out.note(selection_text.stage_said(stage, funnel_step(selected.outcome.selection, stage)))


def leaving(selected: LocalSelection, stage: Stage) -> Iterator[Seen]:
    """The tests that came to a stage, those of it that it let through first."""
    if stage is Stage.CHANGE:
        return
    considered = considered_in(selected.outcome.selection)
    seen = [
        Seen(candidate, _goes_on(candidate, kept, stage))
        for candidate, kept in considered
        if _came(candidate, kept, stage)
    ]
    yield from sorted(seen, key=lambda it: not it.goes_on)


def _came(candidate: Candidate, kept: bool, stage: Stage) -> bool:
    """Whether no stage before left it out; the lot is drawn at the last one, from all that was."""
    if stage is Stage.MANIFESTS and kept:
        return True
    left = left_at(candidate, kept)
    return left is None or left >= stage


def left_at(candidate: Candidate, kept: bool) -> Stage | None:
    """The stage that left a test out, None for one that none did. What runs by lot was left out all the same."""
    decision = decision_of(candidate, kept)
    if decision is Decision.LEFT_OUT:
        return candidate.reasons[-1].stage if candidate.reasons else None
    if decision is Decision.BY_LOT:
        before = [reason for reason in candidate.reasons[:-1] if reason.rule not in TAKES_ALL]
        return before[-1].stage if before else None
    return None


def _goes_on(candidate: Candidate, kept: bool, stage: Stage) -> bool:
    if stage is Stage.MANIFESTS:
        return kept
    left = left_at(candidate, kept)
    return left is None or left > stage


def _show_files(out: Output, selected: LocalSelection) -> None:
    rows = [
        (one_line(it.path), it.status, it.category, one_line(it.noop or ", ".join(it.symbols), 500))
        for it in selected.outcome.change.files
    ]
    out.table(("FILE", "CHANGE", "CATEGORY", "CHANGED FUNCTIONS, OR WHY IT CANNOT MATTER"), rows)


def _show_tests(out: Output, seen: Sequence[Seen], stage: Stage) -> None:
    rows = [
        (
            one_line(str(it.candidate.test), 1_000),
            selection_text.goes_on(it.goes_on, last=stage is Stage.MANIFESTS),
            one_line("; ".join(it.reasons(stage)) or selection_text.said_nothing(), 1_000),
        )
        for it in seen
    ]
    out.table(("TEST", "", "SAID"), rows)


def _as_object(selected: LocalSelection, stage: Stage, seen: Sequence[Seen]) -> dict[str, object]:
    about = funnel_step(selected.outcome.selection, stage) or {"stage": int(stage), "name": stage.name.lower()}
    kind = "files" if stage is Stage.CHANGE else "tests"
    return {**about, kind: list(_records(selected, stage, seen))}


def _records(selected: LocalSelection, stage: Stage, seen: Sequence[Seen]) -> Iterator[dict[str, object]]:
    if stage is Stage.CHANGE:
        yield from changed_files(selected.outcome.change)
    yield from (it.as_object(stage) for it in seen)
