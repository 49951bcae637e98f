"""Which exit codes each command can end with, told in its help and in the README. A test holds transcripts to it.

By a command's options, so that an option that promises a code cannot be without it. Standard library only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from relay.cli.exits import ExitCode

#: Commands that show a token without `--url`, and those that have `--url` and none.
_WITH_TOKEN = frozenset({("worker",)})
_WITHOUT_TOKEN = frozenset({("doctor",)})
_PROMISED = {"--exit-status": ExitCode.RED, "--fail-fast": ExitCode.RED, "--timeout": ExitCode.PENDING}


def codes_of(path: Sequence[str], options: Collection[str]) -> tuple[ExitCode, ...]:
    """The codes of a command by its words and its options; without those that any program may end with, which are
    Ctrl-C and a reader that has gone."""
    codes = {ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE}
    if ("--url" in options or tuple(path) in _WITH_TOKEN) and tuple(path) not in _WITHOUT_TOKEN:
        codes.add(ExitCode.LOGIN)
    codes.update(code for option, code in _PROMISED.items() if option in options)
    return tuple(sorted(codes))
