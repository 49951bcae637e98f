"""`relay select`: the four stages on a local git checkout, without a service. Nothing of the checkout is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from relay.cli.change_options import (
    BaseOption,
    BudgetOption,
    DiffOption,
    FullOption,
    HeadOption,
    HoldoutOption,
    LlmOption,
    ManifestsOption,
    MapOption,
    NoManifestsOption,
    RepoOption,
)
from relay.cli.options import JsonOption
from relay.cli.output import Output

Layout = Literal["table", "ids", "pytest", "json", "jsonl"]


def select(
    tests: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEST", help="With --explain, --stage, jsonl: these tests only, by a part of the name."),
    ] = None,
    *,
    repo: RepoOption = Path(),
    base: BaseOption = None,
    head: HeadOption = None,
    diff: DiffOption = None,
    budget: BudgetOption = None,
    full: FullOption = False,
    holdout: HoldoutOption = 0.0,
    explain: Annotated[bool, typer.Option("--explain", help="Show the reasons of every test, in and out.")] = False,
    stage: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=4,
            help="Show what one stage saw and let through: 1 change, 2 ownership, 3 triage, 4 manifests.",
        ),
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(
            "--format",
            help="How to write it; pytest is arguments, a line a file; jsonl a record for every test, in and out.",
        ),
    ] = "table",
    llm: LlmOption = True,
    manifests: ManifestsOption = None,
    no_manifests: NoManifestsOption = False,
    function_map: MapOption = None,
    as_json: JsonOption = False,
) -> None:
    """Select the tests a change can affect, and say why. Exit code 0 also when that is none.

    \b
    Examples:
      relay select --repo ~/pytorch --base main --head my-branch
      git diff | relay select --diff - --format ids
      relay select --base HEAD~1 --format pytest | xargs -L 1 python -m pytest
      relay select --base HEAD~1 --budget 10m --holdout 0.03
      relay select --base HEAD~1 --explain test_softmax
      relay select --base HEAD~1 --stage 1
    """
    from relay.cli import selection_data, selection_page, selection_text
    from relay.cli.selection import Wish, run_selection

    if tests and not (explain or stage or layout == "jsonl"):
        raise typer.BadParameter(selection_text.narrowing_nothing(), param_hint="TEST")
    out = Output(as_json or layout == "json")
    wish = Wish(
        *(repo, base, head, diff),
        llm=llm,
        manifests=manifests,
        no_manifests=no_manifests,
        budget_s=budget,
        full=full,
        holdout=holdout,
        function_map=function_map,
    )
    selected = run_selection(wish, out)
    selection = selected.outcome.selection
    if stage is not None:
        from relay.cli.selection_stage import show_stage
        from selector.types import Stage

        show_stage(out, selected, Stage(stage), layout, tests or ())
    elif out.as_json:
        out.data(selection_data.whole(selected))
    elif layout == "jsonl":
        for record in selection_data.records(selected, tests or ()):
            out.data(record)
    elif explain:
        selection_page.show_explanations(out, selection, tests or ())
    else:
        if layout == "table":
            selection_page.show_table(out, selection)
        else:
            (selection_page.show_ids if layout == "ids" else selection_page.show_pytest)(out, selection.kept)
        selection_page.show_ending(out, selection)
