"""Options that several commands share, so that they are spelt and explained once. Light: imported by `relay --help`."""

from __future__ import annotations

from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to stdout, and nothing else.")]
UrlOption = Annotated[
    str | None, typer.Option("--url", envvar="RELAY_URL", help="The relay to talk to, instead of this machine's.")
]
RepositoryOption = Annotated[
    str | None,
    typer.Option("--repo", metavar="OWNER/NAME", envvar="RELAY_REPO", help="Only runs of this upstream repository."),
]
RunArgument = Annotated[int, typer.Argument(metavar="ID", min=1, help="The run, by its number.")]
ExitStatusOption = Annotated[
    bool, typer.Option("--exit-status", help="Exit with 5 when the run ended in failure, failed or was cancelled.")
]
