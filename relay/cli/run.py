"""`relay run ...`: look at runs, follow one, start one again, stop one. Talks to the service only, by HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import report_text, text
from relay.cli.options import ExitStatusOption, JsonOption, RunArgument, UrlOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.views import RunState, RunSummary

app = typer.Typer(help="Look at runs, follow, repeat and stop them.", no_args_is_help=True)


@app.command("list")
def list_runs(
    *,
    state: Annotated[str | None, typer.Option(help="Only runs in this state, for example running.")] = None,
    pr: Annotated[int | None, typer.Option(help="Only runs of this pull request.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many.")] = 20,
    before: Annotated[int | None, typer.Option(help="Only runs older than this one.")] = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List runs, newest first."""
    from relay.cli.connect import open_client

    out = Output(as_json)
    wanted = _state(state)
    with open_client(url) as client:
        page = client.runs(state=wanted, pr=pr, limit=limit, before=before)
    if as_json:
        out.data(page)
        return
    out.table(("RUN", "STATE", "CHANGE", "TITLE", "TESTS", "CREATED"), [_row(out, run) for run in page.runs])
    if not page.runs:
        out.note(text.no_runs())
    elif page.next_before is not None and out.is_terminal:
        out.note(text.more_runs(f"relay run list --before {page.next_before}"))


@app.command("view")
def view_run(
    run_id: RunArgument,
    *,
    exit_status: ExitStatusOption = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a run: its headline, funnel, verdicts, failures with their assertions, and what to do next."""
    from relay.cli.connect import open_client
    from relay.cli.report import failures_of, show_run

    out = Output(as_json)
    with open_client(url) as client, naming_the_run(client, run_id):
        detail = client.run(run_id)
        failures, total = failures_of(client, run_id)
    if as_json:
        out.data({**detail.model_dump(mode="json"), "failures": failures, "failures_total": total})
    else:
        show_run(out, detail, failures, total)
    _exit_by(detail.run, exit_status)


@app.command("report")
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
    _exit_by(run, exit_status)


@app.command("watch")
def watch_run(
    run_id: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="The run; the newest if left out.")
    ] = None,
    *,
    exit_status: ExitStatusOption = False,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Give up after so many seconds, with exit code 8.")
    ] = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Follow a run to its end. Ctrl-C leaves the run alone. With --json: one JSON object a line."""
    from relay.cli.connect import open_client
    from relay.cli.watch import newest_run, watch

    out = Output(as_json)
    with open_client(url) as client:
        number = newest_run(client) if run_id is None else run_id
        with naming_the_run(client, number):
            run = watch(client, number, out, timeout)
    _exit_by(run, exit_status)


@app.command("rerun")
def rerun(
    run_id: RunArgument,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Only the tests that failed.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Every test of the device, without a selection.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a finished run again, as a new run."""
    from relay.cli.connect import open_operator_client

    if failed and full:
        raise typer.BadParameter(text.failed_and_full(), param_hint="--full")
    out = Output(as_json)
    with open_operator_client(url) as client, naming_the_run(client, run_id):
        run = client.rerun(run_id, failed=failed, full=full)
    _show_change(out, run, text.rerun_started(run.id, run_id), text.watch_command(run.id))


@app.command("cancel")
def cancel(run_id: RunArgument, *, url: UrlOption = None, as_json: JsonOption = False) -> None:
    """Stop a run. Tests that are under way end first."""
    from relay.cli.connect import open_operator_client

    out = Output(as_json)
    with open_operator_client(url) as client, naming_the_run(client, run_id):
        run = client.cancel(run_id)
    _show_change(out, run, text.cancelled(run.id), text.view_command(run.id))


@contextmanager
def naming_the_run(client: ApiClient, run_id: int) -> Iterator[None]:
    """Says which run there is none of, and where, instead of the service's general words."""
    from relay.client import NotFound

    try:
        yield
    except NotFound as error:
        message = text.no_such_run(run_id, client.base_url)
        raise NotFound(message, text.no_such_run_hint()) from error


def _show_change(out: Output, run: RunSummary, sentence: str, command: str) -> None:
    if out.as_json:
        out.data(run)
        return
    out.say(sentence)
    out.say(run.url)
    out.note(text.next_step(command))


def _row(out: Output, run: RunSummary) -> tuple[str, ...]:
    change = f"#{run.pr_number}" if run.pr_number else run.head_sha[:10]
    state = run.conclusion or run.state
    tests = f"{run.reported}/{run.planned}" if run.planned else ""
    return (str(run.id), out.status(state), change, one_line(run.title, 60), tests, out.when(run.created_at))


def _state(given: str | None) -> RunState | None:
    """The state of that name. Raises a usage error with the nearest name there is."""
    from difflib import get_close_matches

    from relay.views import RunState

    if given is None:
        return None
    names = [state.value for state in RunState]
    if given in names:
        return RunState(given)
    guess = next(iter(get_close_matches(given, names, n=1)), "")
    raise typer.BadParameter(text.unknown_state(given, guess, names), param_hint="--state")


def _exit_by(run: RunSummary, exit_status: bool) -> None:
    from relay.cli.exits import ExitCode
    from relay.cli.report import is_red

    if exit_status and is_red(run):
        raise typer.Exit(ExitCode.RED)
