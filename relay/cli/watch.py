"""`relay run watch`: the run's address first, then its events, then the verdict and the next command."""

from __future__ import annotations

import time
from dataclasses import dataclass

import typer

from relay.cli import run_text, text
from relay.cli.exits import ExitCode
from relay.cli.one_run import show_event
from relay.cli.output import Output
from relay.cli.report import RED, failures_of, headline, next_command, show_failures
from relay.client import FINAL_STATES, ApiClient, NotFound
from relay.following import follow
from relay.views import RunEvent, RunSummary

_KINDS = ("run", "event")


def newest_run(client: ApiClient) -> int:
    """The run a reader means who names none. Raises `NotFound` when there is none at all."""
    runs = client.runs(limit=1).runs
    if not runs:
        raise NotFound(text.no_runs_yet(), text.no_runs_yet_hint())
    return runs[0].id


@dataclass(frozen=True, slots=True)
class Watching:
    """How to watch. Seconds; `fail_fast` ends with the first failure, `compact` leaves the events out."""

    timeout_s: float | None = None
    interval_s: float = 2.0
    fail_fast: bool = False
    compact: bool = False


def watch(client: ApiClient, run_id: int, out: Output, how: Watching) -> RunSummary:
    """Follow the run and return it as it ended. Exits with 8 when it has not ended in time, with 5 when it fails and
    that is to end the watch."""
    _show_start(out, client.run(run_id).run)
    deadline = None if how.timeout_s is None else time.monotonic() + how.timeout_s
    try:
        for event in follow(client, run_id, deadline=deadline, poll_s=how.interval_s):
            _show_event(out, event, how)
            if how.fail_fast:
                _end_at_failure(client, run_id, out)
    except KeyboardInterrupt:
        out.note(text.watch_interrupted(run_id))
        raise
    run = client.run(run_id).run
    if run.state not in FINAL_STATES:
        out.note(text.still_pending(run_id, how.timeout_s or 0))
        raise typer.Exit(ExitCode.PENDING)
    _show_end(out, client, run)
    return run


def _end_at_failure(client: ApiClient, run_id: int, out: Output) -> None:
    """Each event says that something changed, so this asks once for each."""
    run = client.run(run_id).run
    if run.state in FINAL_STATES or not any(run.verdicts.get(verdict) for verdict in RED):
        return
    _show_end(out, client, run)
    out.note(run_text.fails_already(run_id))
    raise typer.Exit(ExitCode.RED)


def _show_start(out: Output, run: RunSummary) -> None:
    if out.as_json:
        out.line_of(_KINDS, {"run": run})
    out.say(text.watching(run.id, run.url))


def _show_event(out: Output, event: RunEvent, how: Watching) -> None:
    if how.compact:
        return
    if out.as_json:
        out.line_of(_KINDS, {"event": event})
    else:
        show_event(out, event)


def _show_end(out: Output, client: ApiClient, run: RunSummary) -> None:
    if out.as_json:
        out.line_of(_KINDS, {"run": run})
        return
    failures, total = failures_of(client, run.id)
    show_failures(out, run, failures, total)
    out.say()
    out.say(headline(out, run))
    if command := next_command(run):
        out.note(text.next_step(command))
