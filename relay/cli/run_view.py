"""`relay run view`: one run as a report, its page, or its log. By HTTP only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import run_text
from relay.cli.one_run import exit_by, naming_the_run, open_page
from relay.cli.options import ExitStatusOption, JsonOption, RunArgument, UrlOption
from relay.cli.output import Output
from relay.cli.run_lines import Part, ensure_shard, failed_only, lines_of, show_line

if TYPE_CHECKING:
    from relay.log_views import LogLineView


def view_run(
    run_id: RunArgument,
    *,
    log: Annotated[bool, typer.Option("--log", help="Then its log: what the shards did and printed.")] = False,
    log_failed: Annotated[
        bool, typer.Option("--log-failed", help="Then of its log what failed, with what was printed there.")
    ] = False,
    shard: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of the log this shard alone, by its number.")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of the log this attempt at a shard alone.")
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Open its page in a browser instead.")] = False,
    exit_status: ExitStatusOption = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: its headline, funnel, verdicts, failures with their assertions, and what to do next.

    \b
    Examples:
      relay run view 7 --log-failed
      relay run view 7 --log --shard 12
      relay run view 7 --json --fields run.conclusion,failures.id
    """
    from relay.cli.connect import open_client
    from relay.cli.report import failures_of, show_run

    if log and log_failed:
        raise typer.BadParameter(run_text.log_and_log_failed(), param_hint="--log")
    out = Output(as_json)
    wants_log = log or log_failed or shard is not None or attempt is not None
    with open_client(url) as client, naming_the_run(client, run_id):
        detail = client.run(run_id)
        ensure_shard(detail, shard)
        if web:
            open_page(out, detail.run)
            return
        failures, total = failures_of(client, run_id)
        found = lines_of(client, Part(run_id, shard, attempt)) if wants_log else iter(())
        lines = list(failed_only(found) if log_failed else found)
    if as_json:
        told = {**detail.model_dump(mode="json"), "failures": failures, "failures_total": total}
        out.data({**told, "log": lines} if wants_log else told)
    else:
        show_run(out, detail, failures, total)
        if wants_log:
            _show_log(out, run_id, lines, failed=log_failed)
    exit_by(detail.run, exit_status)


def _show_log(out: Output, run_id: int, lines: list[LogLineView], *, failed: bool) -> None:
    out.say()
    for line in lines:
        show_line(out, line)
    if not lines:
        out.note(run_text.nothing_failed(run_id) if failed else run_text.no_lines(run_id))
