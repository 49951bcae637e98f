"""An upgrade report on the terminal: the funnel, the duties, and what is most pressing. The rest is in its files."""

from __future__ import annotations

import json

from relay.cli.output import Output, one_line
from relay.upgrade import words
from relay.upgrade.grouping import causes_of, changes_by_file, notes_of, suggested_modes, with_duty
from relay.upgrade.writing import report_json
from selector.upgrade.types import Duty, OutcomeDifference, UpgradeReport

#: Causes that a terminal is shown; a file or a pipe gets all of them.
_CAUSES = 10
_NOTES = 5


def show_report(out: Output, report: UpgradeReport) -> None:
    """The report as JSON where that was asked for, else what fits a screen."""
    if out.as_json:
        out.data(json.loads(report_json(report)))
        return
    out.say(one_line(f"{words.title(report)}: {words.compared(report)}"))
    if counts := words.all_changes(changes_by_file(report)[0][1]):
        out.say(counts)
    out.say()
    steps = [(one_line(it.name), f"{it.left:,}", it.unit, one_line(it.summary)) for it in report.funnel]
    out.table(("STEP", "LEFT", "OF", "WHAT IT IS"), steps)
    out.say()
    out.table(("DUTY", "TESTS", "GROUPS", ""), [_duty(report, duty) for duty in Duty])
    _show_causes(out, report)
    _show_rest(out, report)


def _duty(report: UpgradeReport, duty: Duty) -> tuple[str, str, str, str]:
    findings = with_duty(report, duty)
    return duty.value, f"{len(findings):,}", f"{len(causes_of(findings)):,}", words.modes(suggested_modes(findings))


def _show_causes(out: Output, report: UpgradeReport) -> None:
    causes = causes_of(with_duty(report, Duty.MUST))
    if not causes:
        return
    shown = causes[:_CAUSES] if out.is_terminal else causes
    rows = [
        (one_line(it.name), f"{len(it.findings):,}", one_line(it.evidence[0].text if it.evidence else "", 200))
        for it in shown
    ]
    out.say()
    out.table(("MUST ASSESS", "TESTS", "WHY"), rows)
    if len(shown) < len(causes):
        out.note(words.more(len(causes) - len(shown), "group"))


def _show_outcomes(out: Output, difference: OutcomeDifference) -> None:
    """Which tests ended otherwise, the most pressing first."""
    shown = difference.outcomes[:_CAUSES] if out.is_terminal else difference.outcomes
    out.say(words.outcomes(difference))
    if shown:
        rows = [(it.kind.value, one_line(it.id, 300), one_line(it.reason, 300)) for it in shown]
        out.table(("ON BOTH RELEASES", "TEST", "WHY"), rows)
    if len(shown) < len(difference.outcomes):
        out.note(words.more(len(difference.outcomes) - len(shown), "test"))


def _show_rest(out: Output, report: UpgradeReport) -> None:
    operators = report.operators
    out.say()
    if operators.before or operators.after:
        out.say(words.operators_differ(operators))
    if report.variants:
        out.say(words.numbered(words.VARIANTS, len(report.variants)))
    if report.outcomes is not None:
        _show_outcomes(out, report.outcomes)
    for summary in report.summaries:
        out.say(one_line(words.said_by_model(summary), 2_000))
    notes = notes_of(report)
    for note in notes[:_NOTES]:
        out.note(f"note: {one_line(note, 1_000)}")
    if len(notes) > _NOTES:
        out.note(words.more(len(notes) - _NOTES, "note"))
    if report.seconds:
        out.note(words.took(report.seconds))
