"""The sentences of an outcome that the test itself could not write: how its process died, timed out, never came.

Everything that comes from a child passes `capped` before it leaves the runner.
"""

from __future__ import annotations

import signal

from relay.contract import MESSAGE_CAP
from workers.runner.child.events import CHANNEL_LOST
from workers.untrusted import storable

_MARK = "\n[...]\n"


def capped(text: str, limit: int = MESSAGE_CAP) -> str:
    """`text` as something every store and page can hold: valid Unicode, no NUL, at most `limit` characters.

    The start and the end survive: the message stands in front, the last frames and last words behind.
    """
    text = storable(text)
    if len(text) <= limit:
        return text
    front = limit // 2
    return text[:front] + _MARK + text[len(text) - (limit - front - len(_MARK)) :]


def how_it_ended(status: int | None) -> str:
    """A wait status in the sense of `subprocess` (negative: a signal) in words; None: nobody is left to tell."""
    if status is None:
        return "the process that watches over the tests was ended or stopped, and the test with it"
    if status == CHANNEL_LOST:
        return "the test closed the runner's event pipe, so nothing more could be seen"
    if status >= 0:
        return f"the process ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process was killed by {name}"


def not_collected(seconds: float) -> str:
    return f"the file was not collected within {seconds:g} s"


def with_output(sentence: str, output: str) -> str:
    """A sentence with the child's last output, of which the end matters most."""
    output = output.strip()
    if not output:
        return capped(sentence)
    heading = f"{sentence}\nLast output:\n"
    return capped(heading + capped(output)[-(MESSAGE_CAP - len(heading)) :])
