"""Options of the commands that work from results, so that they are spelt and explained once. Light to import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FromOption = Annotated[
    list[Path] | None,
    typer.Option("--from", metavar="RESULTS", help="JUnit file, saved tests of a run, or a folder; repeat for more."),
]
FromRunOption = Annotated[
    list[int] | None, typer.Option("--from-run", metavar="ID", help="A run of the relay; repeat for more.")
]
UpstreamOption = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Upstream checkout; tells base names from variants in JUnit files.")
]


def _issue(value: str) -> str:
    from pydantic import TypeAdapter, ValidationError

    from selector.manifests.extensions import IssueRef

    try:
        return TypeAdapter(IssueRef).validate_python(value) if value else ""
    except ValidationError as error:
        raise typer.BadParameter(str(error.errors()[0]["ctx"]["error"])) from error


IssueOption = Annotated[
    str,
    typer.Option(
        metavar="LINK", callback=_issue, help="Issue to write into new entries: a link, owner/repository#12 or #12."
    ),
]
DeviceOption = Annotated[
    str | None, typer.Option(metavar="WORD", help="The device's word in generated names [default: RELAY_DEVICE].")
]
