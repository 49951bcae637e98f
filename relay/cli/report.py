"""What `relay run view` and the end of `relay run watch` show of a run. Reads read models, writes to an `Output`."""

from __future__ import annotations

from relay.cli import report_text, text
from relay.cli.output import Output, clean, one_line
from relay.client import FINAL_STATES, ApiClient
from relay.views import Conclusion, RunDetail, RunState, RunSummary, TestView, Verdict

#: Verdicts that make a run red, worst first.
RED = (Verdict.REGRESSION, Verdict.CRASH, Verdict.TIMEOUT, Verdict.MISSING)
_FAILURES_SHOWN = 20
_DETAIL_LINES = 12


def is_red(run: RunSummary) -> bool:
    """Whether the run ended otherwise than a change wants it to."""
    return run.conclusion is Conclusion.FAILURE or run.state in {RunState.FAILED, RunState.CANCELLED}


def failures_of(client: ApiClient, run_id: int) -> tuple[list[TestView], int]:
    """The first failures of a run, worst kind first, and how many there are in all."""
    shown: list[TestView] = []
    total = 0
    for verdict in RED:
        page = client.tests(run_id, verdict=verdict, limit=max(1, _FAILURES_SHOWN - len(shown)))
        shown.extend(page.tests)
        total += page.total
    return shown[:_FAILURES_SHOWN], total


def show_run(out: Output, detail: RunDetail, failures: list[TestView], total: int) -> None:
    """The whole report, most important first."""
    run = detail.run
    out.say(headline(out, run))
    out.say(run.url)
    out.say()
    _show_facts(out, detail)
    show_funnel(out, detail)
    show_notes(out, detail)
    show_verdicts(out, run)
    show_failures(out, run, failures, total)
    if (command := next_command(run)) and not out.as_json:
        out.note(text.next_step(command))


def headline(out: Output, run: RunSummary) -> str:
    """`x failure  Run 7: 3 regressions ...`."""
    return f"{out.status(run.conclusion or run.state)}  {one_line(run.headline) or f'run {run.id}'}"


def next_command(run: RunSummary) -> str:
    """The command a reader most likely wants now; empty when there is nothing to do."""
    if run.state not in FINAL_STATES:
        return text.watch_command(run.id)
    if run.conclusion is Conclusion.FAILURE:
        return text.rerun_failed_command(run.id)
    return text.rerun_command(run.id) if is_red(run) else ""


def show_failures(out: Output, run: RunSummary, failures: list[TestView], total: int) -> None:
    """Each failing test with the beginning of its detail: a worker puts the assertion first, then its origin."""
    for test in failures:
        out.say()
        out.say(f"{out.status(test.verdict or '')}  {one_line(test.id, 1_000)}")
        out.say(f"    {one_line(test.expected)} by {one_line(test.rule)} ({one_line(test.provenance)})")
        for line in clean(test.detail, 8_000).splitlines()[:_DETAIL_LINES]:
            out.say(f"    {line}")
    if total > len(failures):
        out.note(text.more_failures(len(failures), total, run.url))


def _show_facts(out: Output, detail: RunDetail) -> None:
    run, tested = detail.run, detail.tested_on
    change = f"{run.repo} #{run.pr_number}" if run.pr_number else run.repo
    facts = [
        ("change", one_line(f"{change} {run.title}")),
        ("commits", f"{run.base_sha[:12]}..{run.head_sha[:12]}"),
        ("device", f"{run.device}, attempt {run.attempt}, by {run.trigger}"),
        ("state", f"{run.state}, {run.reported} of {run.planned} tests reported"),
        ("created", out.when(run.created_at)),
    ]
    if run.started_at and run.finished_at:
        facts.append(("took", text.how_long((run.finished_at - run.started_at).total_seconds())))
    if run.rerun_of:
        facts.append(("repeats", f"run {run.rerun_of}"))
    if tested:
        words = (tested.name, tested.torch_version, tested.torch_git_sha, tested.python_version, tested.device_profile)
        facts.append(("tested on", one_line(report_text.tested_on(*words), 500)))
        facts.append(("sandbox", one_line(tested.sandbox or "not told", 500)))
    out.table(("", ""), facts)
    for weak in detail.weak_sandboxes:
        out.say(one_line(report_text.weak_sandbox(weak.worker, weak.shards, weak.sandbox), 900))


def show_funnel(out: Output, detail: RunDetail) -> None:
    if not detail.funnel:
        return
    out.say()
    rows = [
        (str(step.stage), one_line(step.name), str(step.entered), str(step.left), step.unit, one_line(step.summary))
        for step in detail.funnel
    ]
    out.table(("STAGE", "", "IN", "OUT", "OF", "WHY"), rows)


def show_notes(out: Output, detail: RunDetail) -> None:
    if detail.not_tested is not None:
        out.say()
        out.say(f"not tested ({detail.not_tested.reason}): {one_line(detail.not_tested.detail, 2_000)}")
    for note in detail.notes:
        out.say(f"note: {one_line(note, 1_000)}")


def show_verdicts(out: Output, run: RunSummary) -> None:
    counts = [(out.status(verdict), str(count)) for verdict, count in run.verdicts.items() if count]
    if counts:
        out.say()
        out.table(("VERDICT", "TESTS"), counts)
