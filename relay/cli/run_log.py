"""`relay run logs|failures`: what happened in a run, and what failed in it and why. By HTTP only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import run_text, text
from relay.cli.one_run import log_of, naming_the_run, show_event
from relay.cli.options import JsonOption, RunArgument, UrlOption
from relay.cli.output import Output
from relay.cli.run_lines import Part, ensure_shard, follow_lines, lines_of, show_line

if TYPE_CHECKING:
    from relay.client import ApiClient


def run_logs(
    run_id: RunArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more until the run has ended.")] = False,
    shard: Annotated[int | None, typer.Option(metavar="N", min=1, help="This shard alone, by its number.")] = None,
    attempt: Annotated[int | None, typer.Option(metavar="N", min=1, help="This attempt at a shard alone.")] = None,
    events: Annotated[
        bool, typer.Option("--events", help="What happened to the run instead: its states, shards and reports.")
    ] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the shards of a run did and printed, line by line. With --json: one JSON object a line.

    \b
    Examples:
      relay run logs 7 --follow
      relay run logs 7 --shard 12 --attempt 1
      relay run logs 7 --events --json --fields at,text
    """
    from relay.cli.connect import open_client
    from relay.client import FINAL_STATES

    if events and (shard is not None or attempt is not None):
        raise typer.BadParameter(run_text.events_have_no_shard(), param_hint="--events")
    out = Output(as_json)
    with open_client(url) as client, naming_the_run(client, run_id):
        try:
            if events:
                _show_events(client, run_id, out, follow=follow)
            else:
                _show_lines(client, Part(run_id, shard, attempt), out, follow=follow)
        except KeyboardInterrupt:
            out.note(text.watch_interrupted(run_id))
            raise
        if not follow and client.run(run_id).run.state not in FINAL_STATES:
            out.note(run_text.goes_on(run_id))


def _show_events(client: ApiClient, run_id: int, out: Output, *, follow: bool) -> None:
    from relay.following import follow as follow_run

    for event in follow_run(client, run_id) if follow else log_of(client, run_id):
        show_event(out, event)


def _show_lines(client: ApiClient, part: Part, out: Output, *, follow: bool) -> None:
    detail = client.run(part.run_id)
    ensure_shard(detail, part.shard)
    if follow and detail.run.started_at is None and detail.run.finished_at is None:
        out.note(run_text.waits(part.run_id))
    shown = 0
    for line in follow_lines(client, part) if follow else lines_of(client, part):
        show_line(out, line)
        shown += 1
    if not shown:
        out.note(run_text.no_lines(part.run_id))


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
