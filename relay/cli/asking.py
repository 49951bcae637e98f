"""Questions before what cannot be taken back. Asked on a terminal only: a script has said what it wants."""

from __future__ import annotations

import sys

from relay.cli import text
from relay.cli.manner import manner
from relay.failures import Failure


class NotAsked(Failure):
    """A command would ask, and may not."""

    code = "needs_yes"


class Declined(Failure):
    """The answer was no."""

    code = "declined"


def confirm(question: str) -> None:
    """Return when the command may go on: said by --yes, answered with yes, or nobody there to ask. Raises `NotAsked`
    under --no-input, `Declined` for any other answer."""
    wanted = manner()
    if wanted.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    if wanted.no_input:
        raise NotAsked(text.would_ask(question), text.would_ask_hint())
    sys.stderr.write(text.asked(question))
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise Declined(text.declined())
