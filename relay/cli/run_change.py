"""`relay run rerun|cancel`: start a run again, stop one. Talks to the service only, by HTTP, as an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import run_text, text
from relay.cli.asking import confirm
from relay.cli.one_run import naming_the_run
from relay.cli.options import JsonOption, RunArgument, UrlOption, record_number, words
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.views import RunSummary


def rerun(
    run_id: Annotated[
        int | None, typer.Argument(metavar="ID", parser=record_number, help="The run; or say --pr.")
    ] = None,
    *,
    pr: Annotated[
        int | None, typer.Option("--pr", metavar="N", parser=record_number, help="The newest run of this pull request.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only the tests that failed.")] = False,
    tests: Annotated[
        list[str] | None,
        typer.Option(
            "--test", metavar="TEST", parser=words(1_000), help="Only this test, by its whole id; repeatable."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Every test of the device, without a selection.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start a finished run again, as a new run.

    \b
    Examples:
      relay run rerun 7 --failed
      relay run rerun --pr 12345
      relay run rerun 7 --test test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32
    """
    from relay.cli.connect import open_operator_client

    if (run_id is None) == (pr is None):
        raise typer.BadParameter(run_text.run_or_pull_request(), param_hint="--pr")
    if sum((failed, full, bool(tests))) > 1:
        raise typer.BadParameter(text.failed_and_full(), param_hint="--full")
    out = Output(as_json)
    with open_operator_client(url) as client:
        number = _newest_of(client, pr or 0) if run_id is None else run_id
        with naming_the_run(client, number):
            run = client.rerun(number, failed=failed, full=full, tests=tests or ())
    _show_change(out, run, text.rerun_started(run.id, number), text.watch_command(run.id))


def cancel(run_id: RunArgument, *, url: UrlOption = None, as_json: JsonOption = False) -> None:
    """Stop a run. Tests that are under way end first. Asks on a terminal, unless --yes is said."""
    from relay.cli.connect import open_operator_client

    out = Output(as_json)
    with open_operator_client(url) as client, naming_the_run(client, run_id):
        run = client.run(run_id).run
        confirm(run_text.cancel_question(run.id, run.pr_number, one_line(run.title, 60)))
        run = client.cancel(run_id)
    _show_change(out, run, text.cancelled(run.id), text.view_command(run.id))


def _newest_of(client: ApiClient, pr: int) -> int:
    from relay.client import NotFound

    runs = client.runs(pr=pr, limit=1).runs
    if not runs:
        raise NotFound(run_text.no_run_of(pr, client.base_url), text.no_such_run_hint())
    return runs[0].id


def _show_change(out: Output, run: RunSummary, sentence: str, command: str) -> None:
    if out.as_json:
        out.data(run)
        return
    out.say(sentence)
    out.say(run.url)
    out.note(text.next_step(command))
