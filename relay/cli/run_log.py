"""`relay run logs|failures`: what happened in a run, and what failed in it and why. By HTTP only."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.cli import run_text, text
from relay.cli.one_run import log_of, naming_the_run, show_event
from relay.cli.options import JsonOption, RunArgument, UrlOption
from relay.cli.output import Output


def run_logs(
    run_id: RunArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more until the run has ended.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what happened in a run, from its beginning. With --json: one JSON object a line.

    \b
    Examples:
      relay run logs 7 --follow
      relay run logs 7 --json --fields at,text
    """
    from relay.cli.connect import open_client
    from relay.client import FINAL_STATES
    from relay.following import follow as follow_run

    out = Output(as_json)
    with open_client(url) as client, naming_the_run(client, run_id):
        try:
            for event in follow_run(client, run_id) if follow else log_of(client, run_id):
                show_event(out, event)
        except KeyboardInterrupt:
            out.note(text.watch_interrupted(run_id))
            raise
        if not follow and client.run(run_id).run.state not in FINAL_STATES:
            out.note(run_text.goes_on(run_id))


def run_failures(
    run_id: RunArgument,
    *,
    max_bytes: Annotated[
        int, typer.Option(min=1_000, max=10_000_000, help="Write no more than this; details are cut first.")
    ] = 60_000,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what failed in a run, how, why it was run, and how to run it again, in a bounded size.

    \b
    Examples:
      relay run failures 7
      relay run failures 7 --json --max-bytes 20000
    """
    from relay.cli.connect import open_client
    from relay.cli.run_failures import fitting, gather, show_fitting

    out = Output(as_json)
    with open_client(url) as client, naming_the_run(client, run_id):
        run = client.run(run_id).run
        found, total = gather(client, run)
    told = fitting(run, found, total, max_bytes, as_json=as_json)
    if as_json:
        out.data(told.as_object())
        return
    show_fitting(out, told)
