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
DeviceOption = Annotated[
    str | None, typer.Option(metavar="WORD", help="The device's word in generated names [default: RELAY_DEVICE].")
]
