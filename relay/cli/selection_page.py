"""A selection for people: the funnel, the tests, and a page that sums up what runs, why, and at what risk."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from relay.cli import selection_text
from relay.cli.output import Output, one_line
from relay.cli.selection_data import considered_in
from relay.cli.text import how_long
from selector.explanation import deciding, decision_of, summarise
from selector.manifests.models import is_model_file
from selector.types import Candidate, Reason, Selection, SelectionState

#: Tests that a terminal is shown; a file or a pipe gets all of them.
_TERMINAL_TESTS = 20


def show_table(out: Output, selection: Selection) -> None:
    """Funnel, kept tests, summary."""
    steps = [
        (f"{it.stage:d}", it.stage.name.lower(), str(it.entered), str(it.left), it.unit, one_line(it.summary))
        for it in selection.funnel
    ]
    out.table(("STAGE", "", "IN", "OUT", "OF", "WHY"), steps)
    if selection.kept:
        out.say()
        shown = selection.kept[:_TERMINAL_TESTS] if out.is_terminal else selection.kept
        out.table(("TEST", "SCORE", "REASON"), [_row(candidate) for candidate in shown])
        if len(shown) < len(selection.kept):
            out.note(selection_text.more_tests(len(selection.kept) - len(shown)))
    out.say()
    show_summary(out, selection)


def show_summary(out: Output, selection: Selection) -> None:
    """The page: what it costs and risks, counts for each reason, and what would change it."""
    page = summarise(selection)
    out.table(("", ""), list(_figures(selection)))
    if page.tallies:
        out.say()
        counts = [
            (it.decision.value, one_line(it.rule), str(it.tests), str(it.files), how_long(it.seconds))
            for it in page.tallies
        ]
        out.table(("DECISION", "RULE", "TESTS", "FILES", "TIME"), counts)
    if page.changes:
        out.say()
        out.table(("", ""), [("to change it" if not number else "", way) for number, way in enumerate(page.changes)])


def show_ids(out: Output, candidates: Sequence[Candidate]) -> None:
    """Their names, one a line."""
    for candidate in candidates:
        out.say(one_line(str(candidate.test), 1_000))


def show_pytest(out: Output, candidates: Sequence[Candidate]) -> None:
    """The arguments of one pytest for each file, one a line. Names are parts there, so that a base test stands for what
    is generated from it, and some may run that were not selected. Whole models are left out: pytest knows none."""
    files: dict[str, dict[str, list[str]]] = {}
    for test in (candidate.test for candidate in candidates if not is_model_file(candidate.test.file)):
        files.setdefault(test.file, {}).setdefault(test.cls, []).append(test.name)
    for file, classes in files.items():
        words = [shlex.quote(file)]
        if all(all(names) for names in classes.values()):  # else the rest of the file, and so all of it
            words += ["-k", shlex.quote(" or ".join(_keywords(cls, names) for cls, names in classes.items()))]
        out.say(one_line(" ".join(words), 1_000_000))


def _keywords(cls: str, names: Sequence[str]) -> str:
    joined = " or ".join(names)
    return f"({cls} and ({joined}))" if cls else joined


def show_ending(out: Output, selection: Selection) -> None:
    """The notes, and one sentence that says what came of it."""
    for line in selection.notes:
        out.note(f"note: {one_line(line, 1_000)}")
    if selection.kept:
        out.note(selection_text.selected(len(selection.kept), len(selection.dropped)))
    elif selection.state is SelectionState.NOTHING_AFFECTED:
        out.note(selection_text.nothing_affected())
    elif selection.state is SelectionState.NONE_ADMITTED:
        out.note(selection_text.none_admitted(len(selection.dropped)))
    else:
        out.note(selection_text.nothing_left(len(selection.dropped)))


def show_explanations(out: Output, selection: Selection, names: Sequence[str]) -> None:
    """The chain of reasons of every considered test whose name contains one of `names`; all without names."""
    considered = considered_in(selection)
    for name in names:
        if not any(name in str(candidate.test) for candidate, _ in considered):
            out.note(selection_text.test_not_considered(name))
    for candidate, kept in considered:
        if names and not any(name in str(candidate.test) for name in names):
            continue
        out.say(f"{one_line(str(candidate.test), 1_000)}: {decision_of(candidate, kept)}")
        for reason in candidate.reasons:
            out.say(f"  stage {reason.stage:d} {said(reason)}")


def said(reason: Reason) -> str:
    """`mentions: mentions roll_up of torch/functional.py (0.90)`."""
    score = "" if reason.score is None else f" ({reason.score:.2f})"
    return f"{one_line(reason.rule)}: {one_line(reason.evidence, 1_000)}{score}"


def _figures(selection: Selection) -> list[tuple[str, str]]:
    cost, kept = selection.cost, len(selection.kept)
    rows = [("plan", f"{selection.key[:12]}, {selection.state.value.replace('_', ' ')}")]
    if cost is None:
        return [*rows, ("runs", selection_text.unknown_cost())]
    rows.append(("runs", selection_text.part_of_all(kept, cost.expected_s, cost.full_s)))
    if words := selection_text.durations(cost.assumed, kept):
        rows.append(("durations", words))
    return [*rows, ("risk", selection_text.misses(cost.expected_misses, cost.saved_s))]


def _row(candidate: Candidate) -> tuple[str, str, str]:
    reason = deciding(candidate, True)
    why = f"{one_line(reason.rule)}: {one_line(reason.evidence, 120)}" if reason else ""
    return one_line(str(candidate.test), 1_000), "must run" if candidate.must_run else f"{candidate.score:.2f}", why
