"""The pages of `relay help` that are no command's. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Iterable

from relay.cli.text import did_you_mean

#: At the end of every command's help.
ANYWHERE = "--color, --fields, -q, -v, --yes and --no-input may stand anywhere: `relay --help`."


def exit_codes(meanings: Iterable[tuple[int, str]]) -> str:
    return "\n".join(["Exit codes:", *(f"  {code:<5}{meaning}" for code, meaning in meanings)])


def codes(of_command: Iterable[int]) -> str:
    """One line below a command's help."""
    return f"Exit codes: {', '.join(str(int(code)) for code in of_command)}; `relay help exit-codes`"


def environment() -> str:
    return """Environment:
  RELAY_URL             the relay to talk to, instead of this machine's (--url)
  RELAY_REPO            the upstream repository whose runs are meant (--repo)
  RELAY_OPERATOR_TOKEN  the token that is shown to the service
  NO_COLOR              no colour, when it is not empty
  FORCE_COLOR           colour off a terminal too, when it is not empty; --color beats both
  TERM=dumb             no colour, no tables, nothing that moves
  BROWSER               what opens pages for `relay run view --web`
Settings of the service are in the README."""


def json_output() -> str:
    return """JSON:
  --json writes one JSON value in one line to stdout, and nothing else. Watching and logs write a line for each thing
  that happens. An error is an object with code, message, hint and request_id; the exit code is as ever.
  --fields A,B.C leaves these fields: of the object; of each of its records when the object is a page of them.
  Names stay as they are, and new ones may be added. Times are ISO 8601 in UTC, durations are seconds."""


def no_such_page(word: str, guess: str, path: str) -> str:
    return f"`{path}` has no command '{word}'.{did_you_mean(guess) if guess else ''}"


def reference_of_options() -> str:
    return "Options of all commands, anywhere in the line:"
