"""Options that several commands share, so that they are spelt and explained once, and what a value of them has to look
like. What a service would refuse is refused before it is asked. Light: imported by `relay --help`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

import typer

from relay.cli import options_text

#: The largest number that a service knows records by.
LARGEST = 2_147_483_647
_REPOSITORY = re.compile(r"[\w.-]{1,100}/[\w.-]{1,100}", re.ASCII)


def web_address(given: str) -> str:
    """An http(s) address without a slash at its end. Raises a usage error for anything else."""
    try:
        parts = urlsplit(given)
        fits = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, or brackets without an address in them
        fits = False
    if not fits or any(c.isspace() or not c.isprintable() for c in given):
        raise typer.BadParameter(options_text.no_web_address(given))
    return given.rstrip("/")


def owner_and_name(given: str) -> str:
    """`pytorch/pytorch`. Raises a usage error for anything else."""
    if not _REPOSITORY.fullmatch(given):
        raise typer.BadParameter(options_text.no_repository(given))
    return given


def record_number(given: str) -> int:
    """The number of a run, a delivery, a token, a pull request. Raises a usage error for anything else."""
    if not (given.isascii() and given.isdecimal() and 1 <= int(given[:20]) <= LARGEST):
        raise typer.BadParameter(options_text.no_record_number(given, LARGEST))
    return int(given)


def words(most: int) -> Callable[[str], str]:
    """Any text that is not empty and has no more than so many characters."""

    def checked(given: str) -> str:
        if not given or len(given) > most or "\0" in given:
            raise typer.BadParameter(options_text.no_words(len(given), most))
        return given

    return checked


JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to stdout, and nothing else.")]
UrlOption = Annotated[
    str | None,
    typer.Option(
        *("--url",),
        metavar="URL",
        parser=web_address,
        envvar="RELAY_URL",
        help="The relay to talk to, instead of this machine's.",
    ),
]
RepositoryOption = Annotated[
    str | None,
    typer.Option(
        *("--repo",),
        metavar="OWNER/NAME",
        parser=owner_and_name,
        envvar="RELAY_REPO",
        help="Only runs of this upstream repository.",
    ),
]
RunArgument = Annotated[int, typer.Argument(metavar="ID", parser=record_number, help="The run, by its number.")]
ExitStatusOption = Annotated[
    bool, typer.Option("--exit-status", help="Exit with 5 when the run ended in failure, failed or was cancelled.")
]
