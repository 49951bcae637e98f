"""A run as it happens, for `relay demo`: events, the funnel as soon as it is known, and a bar while tests run.

On a terminal the bar moves in place below the events. Off a terminal there is no bar; the events say the counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from relay.cli import demo_text
from relay.cli.output import Output, one_line
from relay.cli.report import show_funnel
from relay.client import ApiClient
from relay.following import follow
from relay.views import RunDetail, RunSummary

if TYPE_CHECKING:
    from rich.progress import Progress


_REASONS_SHOWN = 4


class Bar(Protocol):
    """Where progress is shown."""

    def update(self, run: RunSummary) -> None:
        """Show how many of the planned tests are reported."""
        ...


class NoBar:
    """Off a terminal."""

    def update(self, run: RunSummary) -> None:
        """Nothing: a bar that cannot move in place is noise."""


def follow_on_screen(client: ApiClient, run_id: int, out: Output) -> RunDetail:
    """Show the run until it has ended, and return it as it ended."""
    funnel_shown = False
    with _bar(out) as bar:
        for event in follow(client, run_id):
            out.say(f"  {one_line(event.text, 1_000)}")
            detail = client.run(run_id)
            bar.update(detail.run)
            if detail.funnel and not funnel_shown:
                show_funnel(out, detail)
                _show_reasons(client, out, detail)
                funnel_shown = True
    return client.run(run_id)


def _show_reasons(client: ApiClient, out: Output, detail: RunDetail) -> None:
    """Some tests that are in and some that are out, each with its chain of reasons; the page has all of them."""
    for kept, total, heading in ((True, detail.kept, demo_text.kept), (False, detail.dropped, demo_text.dropped)):
        decisions = client.decisions(detail.run.id, kept=kept, limit=_REASONS_SHOWN).decisions
        if decisions:
            out.say()
            out.say(heading(len(decisions), total))
        for decision in decisions:
            out.say(f"  {one_line(decision.test, 1_000)}{demo_text.must_run() if decision.must_run else ''}")
            for reason in decision.reasons:
                out.say(f"    {reason.stage} {one_line(reason.rule)}: {one_line(reason.evidence)}")
    out.say()


@contextmanager
def _bar(out: Output) -> Iterator[Bar]:
    if not out.is_terminal or out.as_json:
        yield NoBar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("  tests on the device"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(highlight=False), transient=True) as progress:
        yield RichBar(progress)


class RichBar:
    """rich's progress bar; it appears once there is something to count."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("tests", total=None, visible=False)

    def update(self, run: RunSummary) -> None:
        """Show how many of the planned tests are reported."""
        self._progress.update(self._task, total=run.planned or None, completed=run.reported, visible=run.planned > 0)
