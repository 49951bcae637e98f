"""The sentences of an outcome that the test itself could not write: how its process died, timed out, never came.

Everything that comes from a child passes `capped` before it leaves the runner.
"""

from __future__ import annotations

import re
import signal

from relay.contract import MESSAGE_CAP
from workers.runner.child.events import CHANNEL_LOST
from workers.untrusted import storable

_MARK = "\n[...]\n"
#: In what `faulthandler` prints: frames below any test, the same in every stack and sixty of them, and the names of all
#: extension modules, which torch makes a line of kilobytes.
_BELOW_TESTS = re.compile(
    r'(?:^  File "(?:(?:[^"\n]*/)?(?:_pytest|pluggy|workers/runner/child)/[^"\n]*|<frozen runpy>)", line \d+ in .*\n?)+'
    r"|^Extension modules: .*\n?",
    re.MULTILINE,
)


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
    """A sentence with the child's last output, of which the end matters most: there is the main thread's stack when
    Python printed one. What every such stack has below the test would push the test's own frames out."""
    output = _BELOW_TESTS.sub("", output).strip()
    if not output:
        return capped(sentence)
    heading = f"{sentence}\nLast output:\n"
    return capped(heading + capped(output)[-(MESSAGE_CAP - len(heading)) :])
