"""`relay run watch`: the run's address first, then its events, then the verdict and the next command."""

from __future__ import annotations

import time

import typer

from relay.cli import text
from relay.cli.exits import ExitCode
from relay.cli.output import Output, one_line
from relay.cli.report import failures_of, headline, next_command, show_failures
from relay.client import FINAL_STATES, ApiClient, NotFound
from relay.following import follow
from relay.views import RunEvent, RunSummary


def newest_run(client: ApiClient) -> int:
    """The run a reader means who names none. Raises `NotFound` when there is none at all."""
    runs = client.runs(limit=1).runs
    if not runs:
        raise NotFound(text.no_runs_yet(), text.no_runs_yet_hint())
    return runs[0].id


def watch(client: ApiClient, run_id: int, out: Output, timeout_s: float | None) -> RunSummary:
    """Follow the run and return it as it ended. Exits with 8 when it has not ended after `timeout_s` seconds."""
    _show_start(out, client.run(run_id).run)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        for event in follow(client, run_id, deadline=deadline):
            _show_event(out, event)
    except KeyboardInterrupt:
        out.note(text.watch_interrupted(run_id))
        raise
    run = client.run(run_id).run
    if run.state not in FINAL_STATES:
        out.note(text.still_pending(run_id, timeout_s or 0))
        raise typer.Exit(ExitCode.PENDING)
    _show_end(out, client, run)
    return run


def _show_start(out: Output, run: RunSummary) -> None:
    if out.as_json:
        out.data({"run": run})
    out.say(text.watching(run.id, run.url))


def _show_event(out: Output, event: RunEvent) -> None:
    if out.as_json:
        out.data({"event": event})
    moment = event.at.astimezone().strftime("%H:%M:%S") if out.is_terminal else event.at.isoformat()
    out.say(f"{moment}  {one_line(event.text, 1_000)}")


def _show_end(out: Output, client: ApiClient, run: RunSummary) -> None:
    if out.as_json:
        out.data({"run": run})
        return
    failures, total = failures_of(client, run.id)
    show_failures(out, run, failures, total)
    out.say()
    out.say(headline(out, run))
    if command := next_command(run):
        out.note(text.next_step(command))
