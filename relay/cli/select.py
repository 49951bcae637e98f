"""`relay select`: the four stages on a local git checkout, without a service. Nothing of the checkout is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line


def select(
    tests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEST]...", help="With --explain: these tests only, by a part of the name."),
    ] = None,
    *,
    repo: Annotated[Path, typer.Option(help="The upstream checkout.")] = Path(),
    base: Annotated[str | None, typer.Option(metavar="REV", help="The commit before the change.")] = None,
    head: Annotated[str | None, typer.Option(metavar="REV", help="The commit with the change [default: HEAD].")] = None,
    diff: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="A diff to apply to --base [default: HEAD].")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the reasons of every test, in and out.")] = False,
    layout: Annotated[Literal["table", "ids", "json"], typer.Option("--format", help="How to write it.")] = "table",
    llm: Annotated[bool, typer.Option("--llm/--no-llm", help="Ask the configured model, if there is one.")] = True,
    manifests: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Manifests to apply [default: RELAY_MANIFEST_DIR].")
    ] = None,
    no_manifests: Annotated[bool, typer.Option("--no-manifests", help="Leave the manifests out.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Select the tests a change can affect, and say why. Exit code 0 also when that is none.

    \b
    Examples:
      relay select --repo ~/pytorch --base main --head my-branch
      git diff | relay select --diff - --format ids
      relay select --base HEAD~1 --explain test_softmax
    """
    from relay.cli.catalog_file import user_catalog
    from relay.cli.change import read_change
    from relay.cli.connect import load_settings
    from relay.cli.selection import run_selection, show_explanations, show_selection

    change = read_change(repo, base, head, diff)
    settings = load_settings()
    folder = None if no_manifests else manifests or settings.manifest_dir
    out = Output(as_json or layout == "json")
    catalog = user_catalog(lambda note: out.note(f"note: {one_line(note, 1_000)}"))
    outcome = run_selection(change, settings, ask_model=llm, manifest_folder=folder, catalog=catalog)
    if explain and not out.as_json:
        show_explanations(out, outcome, tests or [])
    else:
        show_selection(out, outcome, layout)
