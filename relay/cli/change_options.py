"""Options of the commands that select on a local change, spelt and explained once.

Light: imported by `relay --help`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

_LENGTH = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")


def seconds_of(given: str | float) -> float:
    """`600`, `90s`, `10m` and `1h30m` in seconds. Raises a usage error for anything else."""
    from relay.cli import selection_text

    match = _LENGTH.fullmatch(str(given).strip())
    if match is None or not any(match.groups()):
        raise typer.BadParameter(selection_text.bad_length(str(given)))
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3_600 + minutes * 60 + seconds


RepoOption = Annotated[Path, typer.Option(help="The upstream checkout.")]
BaseOption = Annotated[str | None, typer.Option(metavar="REV", help="The commit before the change.")]
HeadOption = Annotated[str | None, typer.Option(metavar="REV", help="The commit with the change [default: HEAD].")]
DiffOption = Annotated[str | None, typer.Option(metavar="FILE|-", help="A diff to apply to --base [default: HEAD].")]
LlmOption = Annotated[bool, typer.Option("--llm/--no-llm", help="Ask the configured model, if there is one.")]
ManifestsOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Manifests to apply [default: RELAY_MANIFEST_DIR].")
]
NoManifestsOption = Annotated[bool, typer.Option("--no-manifests", help="Leave the manifests out.")]
MapOption = Annotated[
    Path | None, typer.Option("--map", metavar="MAP", help="What `relay map record` wrote: also select by what ran.")
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        metavar="TIME",
        parser=seconds_of,
        help="Run only what fits into so much time (90s, 10m, 1h30m), and what must run.",
    ),
]
FullOption = Annotated[bool, typer.Option("--full", help="Run everything that the manifests admit.")]
HoldoutOption = Annotated[
    float, typer.Option(metavar="SHARE", min=0, max=1, help="Run so much of what is left out too, drawn by lot: 0.03.")
]
