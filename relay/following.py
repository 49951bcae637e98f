"""Follow a run to its end: events as they come, over broken connections, and by asking when nothing streams.

Owns reconnecting (by the last event seen), backing off, and the fall-back to polling. It prints nothing. Time is
`time.monotonic` seconds; `sleep` is an argument so that a caller decides how waiting is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from relay.client import FINAL_STATES, ApiClient, BadReply, Busy, Unreachable
from relay.views import RunEvent, RunSummary

#: Streams that may fail in a row, without one event between them, before the run is polled instead.
STREAM_TRIES = 3
#: Unanswered polls in a row before the service is taken for gone.
POLL_TRIES = 10
_SILENCE_S = 45.0


def follow(
    client: ApiClient,
    run_id: int,
    *,
    deadline: float | None = None,
    poll_s: float = 2.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[RunEvent]:
    """Events of the run until it is final, or until `deadline` (monotonic seconds) has passed.

    Raises `NotFound` at once for an unknown run, `Unreachable` or `Busy` when the service stays away.
    """
    client.run(run_id)
    last, failures = 0, 0
    while failures < STREAM_TRIES and not _passed(deadline):
        try:
            for event in client.events(run_id, after=last, silence_s=_remaining(deadline)):
                last, failures = event.id, 0
                yield event
            if client.run(run_id).run.state in FINAL_STATES:
                return
            failures += 1
        except (Unreachable, BadReply, Busy):
            failures += 1
        if failures:
            sleep(min(0.2 * 2**failures, poll_s))
    yield from _poll(client, run_id, last=last, deadline=deadline, poll_s=poll_s, sleep=sleep)


def _poll(
    client: ApiClient,
    run_id: int,
    *,
    last: int,
    deadline: float | None,
    poll_s: float,
    sleep: Callable[[float], None],
) -> Iterator[RunEvent]:
    """What changed between two looks at the run, as events of kind `progress` under the last id seen."""
    seen, failures = "", 0
    while not _passed(deadline):
        try:
            run = client.run(run_id).run
        except (Unreachable, Busy):
            failures += 1
            if failures >= POLL_TRIES:
                raise
        else:
            failures = 0
            if (now := _progress(run)) != seen:
                seen = now
                yield RunEvent(id=last, run_id=run_id, at=datetime.now(UTC), kind="progress", text=now)
            if run.state in FINAL_STATES:
                return
        sleep(poll_s)


def _progress(run: RunSummary) -> str:
    counted = f", {run.reported} of {run.planned} tests reported" if run.planned else ""
    return f"{run.state}{counted}"


def _passed(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _remaining(deadline: float | None) -> float:
    if deadline is None:
        return _SILENCE_S
    return max(0.1, min(_SILENCE_S, deadline - time.monotonic()))
