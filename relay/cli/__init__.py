"""The `relay` command: one line per command, each in a module of its own, loaded light.

`relay --help` imports neither pydantic, fastapi, sqlalchemy, celery nor httpx: whatever needs them imports them inside
a command. Data goes to stdout, everything else to stderr; the exit codes are in `relay.cli.exits`, the words in
`relay.cli.text`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from relay.cli import text
from relay.cli.exits import ExitCode, exit_code
from relay.cli.manner import Manner, behave, to_the_front
from relay.cli.output import has_format, show_failure, wants_json
from relay.cli.root import build
from relay.cli.streams import NoOutput, ReaderGone, flush_at_the_end, guard_streams, unusable_file, write_no_more
from relay.errors import SettingsError
from relay.failures import Failure


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The console script: run one command line, exit with its code."""
    guard_streams()
    sys.exit(_written(sys.argv[1:] if arguments is None else arguments))


def _written(arguments: Sequence[str]) -> int:
    """Run a command line to its end, which is when all it says is written."""
    try:
        code = run(arguments)
        flush_at_the_end()
    except ReaderGone:
        write_no_more()
        return ExitCode.READER_GONE
    except NoOutput as failure:
        write_no_more()
        show_failure(failure, as_json=False)  # where JSON goes, nothing can be written
        return exit_code(failure)
    return code


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Expected failures are shown, bugs are raised."""
    as_json = wants_json(arguments)
    behave(Manner())
    if "_RELAY_COMPLETE" in os.environ:  # a shell asks; see `relay completion`
        from relay.cli.shell_completion import be_ready_to_answer

        be_ready_to_answer()
    try:
        if any(word.partition("=")[0] == "--fields" for word in arguments) and not (
            as_json or has_format(arguments, "jsonl")
        ):
            raise typer.BadParameter(text.fields_without_json(), param_hint="--fields")
        # Not standalone: the ends of a command are translated here, in one place, also for --json.
        code = build()(to_the_front(arguments), prog_name="relay", standalone_mode=False)
    except typer.TyperException as error:
        return _usage(error, arguments, as_json)
    except SettingsError as error:
        show_failure(Failure(str(error), code="bad_settings"), as_json=as_json)
        return ExitCode.FAILED
    except NoOutput:
        raise
    except OSError as error:
        if error.filename is None:  # not about a file that somebody named: a bug of ours
            raise
        show_failure(unusable_file(error), as_json=as_json)
        return ExitCode.FAILED
    except Failure as failure:
        show_failure(failure, as_json=as_json)
        return exit_code(failure)
    return code if isinstance(code, int) else ExitCode.OK


def _usage(error: typer.TyperException, words: Sequence[str], as_json: bool) -> int:
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":  # a group without a command: its help is the message
        sys.stderr.write(message.rstrip() + "\n")
        return error.exit_code
    from relay.cli.usage import wrong_line

    show_failure(wrong_line(error, words, build()), as_json=as_json)
    return error.exit_code
