"""`relay run list|report|watch`: look at runs and follow one. Talks to the service only, by HTTP.

What changes runs is in `run_change`, what tells of one in detail in `run_view` and `run_log`; `run_group` joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import report_text, text
from relay.cli.one_run import exit_by, naming_the_run, row_of
from relay.cli.options import (
    ExitStatusOption,
    JsonOption,
    RepositoryOption,
    RunArgument,
    UrlOption,
    record_number,
    words,
)
from relay.cli.output import Output

if TYPE_CHECKING:
    from relay.views import Conclusion, RunState

#: Runs in a list, where no number is asked for.
_RUNS = 20
ABOUT = "Look at runs, follow, repeat and stop them."


def list_runs(
    *,
    state: Annotated[
        str | None,
        typer.Option("--state", "--status", help="Only runs in this state, or ended so: running, failure, ..."),
    ] = None,
    repo: RepositoryOption = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", parser=words(300), help="Only runs of changes to this branch.")
    ] = None,
    pr: Annotated[
        int | None, typer.Option(metavar="N", parser=record_number, help="Only runs of this pull request.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", parser=words(100), help="Only runs on this device.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = _RUNS,
    before: Annotated[
        int | None, typer.Option(metavar="ID", parser=record_number, help="Only runs older than this one.")
    ] = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first.

    \b
    Examples:
      relay run list --state failure --branch main
      relay run list --pr 12345 --json --fields id,conclusion,url
    """
    from relay.cli.connect import open_client

    out = Output(as_json)
    wanted, ended = state_or_end(state)
    with open_client(url) as client:
        asked = {"repo": repo, "branch": branch, "device": device}
        page = client.runs(state=wanted, conclusion=ended, pr=pr, limit=limit, before=before, **asked)
    if as_json:
        out.data(page)
        return
    out.table(("RUN", "STATE", "CHANGE", "TITLE", "TESTS", "CREATED"), [row_of(out, run) for run in page.runs])
    if not page.runs:
        out.note(text.no_runs())
    elif page.next_before is not None and out.is_terminal:
        given = {"--state": state, "--repo": repo, "--branch": branch, "--pr": pr, "--device": device}
        size = {} if limit == _RUNS else {"--limit": limit}
        out.note(text.more_runs(older_runs({**given, **size}, page.next_before)))


def older_runs(asked: Mapping[str, str | int | None], before: int) -> str:
    """The same question about older runs, to be copied into a shell."""
    from shlex import quote

    given = " ".join(f"{name} {quote(str(value))}" for name, value in asked.items() if value is not None)
    return " ".join(part for part in ("relay run list", given, f"--before {before}") if part)


def report_run(
    run_id: RunArgument,
    *,
    junit: Annotated[str, typer.Option(metavar="FILE", help="Write JUnit XML to this file; - is standard output.")],
    exit_status: ExitStatusOption = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a finished run to a file that other tools read: JUnit XML, a suite for each test file."""
    from relay.cli.connect import open_client
    from relay.cli.report_file import write_report

    out = Output(as_json)
    with open_client(url) as client, naming_the_run(client, run_id):
        run = client.run(run_id).run
        size = write_report(client.junit(run_id), junit)
    if as_json and junit != "-":
        out.data({"run": run.id, "file": junit, "bytes": size})
    elif junit != "-":
        out.note(report_text.report_written(run.id, junit))
    exit_by(run, exit_status)


def watch_run(
    run_id: Annotated[
        int | None, typer.Argument(metavar="ID", parser=record_number, help="The run; the newest if left out.")
    ] = None,
    *,
    exit_status: ExitStatusOption = False,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Give up after so many seconds, with exit code 8.")
    ] = None,
    interval: Annotated[
        float, typer.Option(min=0.1, max=600, help="Seconds between looks, where nothing tells by itself.")
    ] = 2.0,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop watching at the first failure.")] = False,
    compact: Annotated[bool, typer.Option("--compact", help="Only the address, failures and the end.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Follow a run to its end. Ctrl-C leaves the run alone. With --json: one JSON object a line.

    \b
    Examples:
      relay run watch 7 --exit-status --timeout 3600
      relay run watch --fail-fast --compact
    """
    from relay.cli.connect import open_client
    from relay.cli.watch import Watching, newest_run, watch

    out = Output(as_json)
    how = Watching(timeout_s=timeout, interval_s=interval, fail_fast=fail_fast, compact=compact)
    with open_client(url) as client:
        number = newest_run(client) if run_id is None else run_id
        with naming_the_run(client, number):
            run = watch(client, number, out, how)
    exit_by(run, exit_status)


def state_or_end(given: str | None) -> tuple[RunState | None, Conclusion | None]:
    """The state of that name, or the end: lists show one or the other. Raises a usage error with the nearest name."""
    from difflib import get_close_matches

    from relay.views import Conclusion, RunState

    if given is None:
        return None, None
    names = [*map(str, RunState), *map(str, Conclusion)]
    if given not in names:
        guess = next(iter(get_close_matches(given, names, n=1)), "")
        raise typer.BadParameter(text.unknown_state(given, guess, names), param_hint="--state")
    return (RunState(given), None) if given in list(RunState) else (None, Conclusion(given))
