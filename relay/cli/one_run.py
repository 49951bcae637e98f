"""What the commands about one run share: its name in errors, its log, its page, its end as an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from relay.cli import run_text, text
from relay.cli.output import Output, one_line
from relay.failures import Failure

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.views import RunEvent, RunSummary


class NoBrowser(Failure):
    """Nothing on this machine opens web pages."""

    code = "no_browser"


@contextmanager
def naming_the_run(client: ApiClient, run_id: int) -> Iterator[None]:
    """Says which run there is none of, and where, instead of the service's general words."""
    from relay.client import NotFound

    try:
        yield
    except NotFound as error:
        named = NotFound(text.no_such_run(run_id, client.base_url), text.no_such_run_hint())
        named.request_id = error.request_id
        raise named from error


def log_of(client: ApiClient, run_id: int) -> Iterator[RunEvent]:
    """All events on record, oldest first."""
    after: int | None = 0
    while after is not None:
        page = client.history(run_id, after=after)
        yield from page.events
        after = page.next_after


def show_event(out: Output, event: RunEvent) -> None:
    """One line; the time of day for a reader, all of it for a program."""
    if out.as_json:
        out.data(event)
        return
    moment = event.at.astimezone().strftime("%H:%M:%S") if out.is_terminal else event.at.isoformat()
    out.say(f"{moment}  {one_line(event.text, 1_000)}")


def open_page(out: Output, run: RunSummary) -> None:
    """Open the run's page in the reader's browser. Raises `NoBrowser`."""
    import webbrowser

    if not webbrowser.open(run.url):
        raise NoBrowser(run_text.no_browser(run.url), run_text.no_browser_hint())
    if out.as_json:
        out.data({"opened": run.url})
        return
    out.note(run_text.opening(run.url))


def exit_by(run: RunSummary, exit_status: bool) -> None:
    """End with the code of a red run, where that is asked for."""
    from relay.cli.exits import ExitCode
    from relay.cli.report import is_red

    if exit_status and is_red(run):
        raise typer.Exit(ExitCode.RED)


def row_of(out: Output, run: RunSummary) -> tuple[str, ...]:
    """A run as a line of a list."""
    change = f"#{run.pr_number}" if run.pr_number else run.head_sha[:10]
    state = run.conclusion or run.state
    tests = f"{run.reported}/{run.planned}" if run.planned else ""
    return (str(run.id), out.status(state), change, one_line(run.title, 60), tests, out.when(run.created_at))
