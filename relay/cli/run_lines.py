"""The lines that a run's shards printed, for the commands that show them: read, followed, narrowed, written.

Asks the service by HTTP, page by page. What happened to the run itself are its events, see `one_run`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from relay.cli import run_text
from relay.cli.output import Output, clean

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.log_views import LogLineView, LogPage
    from relay.views import RunDetail

#: Seconds between two looks at a log that has nothing new.
LOOK_S = 1.0
#: Looks in a row without an answer, before the service is taken for gone.
_TRIES = 10
_TEXT_CAP = 2_000
_GLYPHS = {
    "step": "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}",
    "failure": "\N{BALLOT X}",
    "test": "\N{MIDDLE DOT}",
    "note": "!",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Which lines: all of a run, or those of a shard, or of one attempt."""

    run_id: int
    shard: int | None = None
    attempt: int | None = None


def ensure_shard(detail: RunDetail, shard: int | None) -> None:
    """Raises a usage error that names the shards there are."""
    known = [found.id for found in detail.shards]
    if shard is not None and shard not in known:
        raise typer.BadParameter(run_text.no_such_shard(detail.run.id, shard, known), param_hint="--shard")


def lines_of(client: ApiClient, part: Part) -> Iterator[LogLineView]:
    """All lines there are, oldest first. Raises `BadReply` where the service keeps no logs."""
    after = ""
    while True:
        page = _page(client, part, after)
        yield from page.lines
        if not page.later:
            return
        after = page.last


def follow_lines(client: ApiClient, part: Part, sleep: Callable[[float], None] = time.sleep) -> Iterator[LogLineView]:
    """All lines, and those that come, until the run is over. Raises `Unreachable` or `Busy` when
    the service stays away."""
    from relay.client import Busy, Unreachable

    after, unanswered = "", 0
    while True:
        try:
            page = _page(client, part, after)
        except (Unreachable, Busy):
            unanswered += 1
            if unanswered == _TRIES:
                raise
            sleep(LOOK_S)
            continue
        unanswered, after = 0, page.last
        yield from page.lines
        if page.over:
            return
        if not page.later:
            sleep(LOOK_S)


def failed_only(lines: Iterable[LogLineView]) -> Iterator[LogLineView]:
    """Failures, each with what was said and printed about it. Shards may speak by turns."""
    failing: set[tuple[int, int]] = set()
    for line in lines:
        whose = (line.shard, line.attempt)
        if line.kind == "failure":
            failing.add(whose)
        elif line.kind not in {"output", "note"}:
            failing.discard(whose)
        if whose in failing:
            yield line


def show_line(out: Output, line: LogLineView) -> None:
    """Columns for a reader; off a terminal shard.attempt, seconds, kind and text, with tabs between."""
    if out.as_json:
        out.data(line)
        return
    text = clean(line.text, _TEXT_CAP).replace("\n", " ")
    if not out.is_terminal:
        out.say(f"{line.shard}.{line.attempt}\t{line.at:.3f}\t{line.kind}\t{text}")
        return
    whose = f"{line.shard}" if line.attempt == 1 else f"{line.shard}.{line.attempt}"
    shown = f"{whose:>4} {line.at:8.1f} s {_GLYPHS.get(line.kind, ' ')} {text}"
    out.say(out.painted(shown, "failed") if line.kind == "failure" else shown)


def _page(client: ApiClient, part: Part, after: str) -> LogPage:
    from relay.client import BadReply, NotFound

    try:
        return client.log(part.run_id, shard=part.shard, attempt=part.attempt, after=after)
    except NotFound as error:
        # The run is known; an older service has no such path.
        raise BadReply(run_text.no_logs_there(client.base_url), run_text.no_logs_there_hint()) from error
