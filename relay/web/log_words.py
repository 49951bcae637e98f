"""Every word about a run's log and about what a run leaves behind as files. Pure; a size comes in bytes."""

from __future__ import annotations

from collections.abc import Sequence

from relay.contract import LogKind
from relay.log_views import LogLineView, LogPage, ShardLogView
from relay.web.wording import Word, number

KIND_WORDS = {
    LogKind.STEP: Word("▸", "step", "busy", "what the worker did"),
    LogKind.TEST: Word("·", "test", "quiet", "ended as it should"),
    LogKind.FAILURE: Word("✗", "failure", "bad", "did not end as it should"),
    LogKind.OUTPUT: Word("", "output", "quiet", "what a test said or printed"),
    LogKind.NOTE: Word("!", "note", "warn", "about the log itself"),
}


def lines(count: int) -> str:
    return "1 line" if count == 1 else f"{number(count)} lines"


def size(count: int) -> str:
    """`900 bytes`, `12 KiB`, `3.4 MiB`."""
    if count < 1024:
        return f"{count} bytes"
    return f"{number(round(count / 1024))} KiB" if count < 1024**2 else f"{count / 1024**2:.1f} MiB"


def summary(logs: Sequence[ShardLogView]) -> str:
    """How much log there is, in a phrase."""
    failures = sum(log.failures for log in logs)
    failed = f", {number(failures)} {'failure' if failures == 1 else 'failures'}" if failures else ""
    shards = len({log.shard for log in logs})
    of = f" of {number(shards)} shards" if shards > 1 else ""
    return f"{lines(sum(log.lines for log in logs))}{of}{failed}"


def about_page(page: LogPage, find: str) -> str:
    """What of the log is on the page."""
    if not find:
        return f"{lines(len(page.lines))} of {number(page.total)} are shown."
    whole = page.searched == page.total
    where = f"all {lines(page.total)}" if whole else f"{number(page.searched)} of {lines(page.total)}"
    found = f"{lines(len(page.lines))} with “{find}”" if page.lines else f"No line with “{find}”"
    goes_on = "" if whole else "; the search goes on below" if page.later else ""
    return f"{found} in {where}{goes_on}."


def nothing(live: bool) -> str:
    if live:
        return "No worker has said anything yet."
    return "There is no log of this run: its workers sent none, or it is not kept any more."


def shard_label(log: ShardLogView) -> str:
    """An entry of the list to choose a shard from."""
    failed = f", {KIND_WORDS[LogKind.FAILURE].glyph} {number(log.failures)}" if log.failures else ""
    again = f", attempt {log.attempt}" if log.attempt > 1 else ""
    return f"shard {log.shard}{again}: {lines(log.lines)}{failed}"


def whose(line: LogLineView) -> str:
    return f"shard {line.shard}" if line.attempt == 1 else f"shard {line.shard}, try {line.attempt}"


def cut_short(logs: Sequence[ShardLogView]) -> str:
    """Which logs reached their cap; empty when none did."""
    full = [f"shard {log.shard}, attempt {log.attempt}" for log in logs if log.full]
    if not full:
        return ""
    named = "; ".join(full[:3]) + (f" and {len(full) - 3} more" if len(full) > 3 else "")
    return f"Not everything was kept of {named}: the cap of a log was reached."
