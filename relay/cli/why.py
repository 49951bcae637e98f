"""`relay why`: why one test runs for a change, or does not. Of a run of the service, or of a local change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relay.cli import selection_text
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
from relay.cli.options import JsonOption, UrlOption, record_number, words
from relay.cli.output import Output


def why(
    test: Annotated[
        str,
        typer.Argument(metavar="TEST", parser=words(1_000), help="A part of its name, or the name of a variant of it."),
    ],
    *,
    change: Annotated[
        int | None,
        typer.Option("--change", metavar="RUN", parser=record_number, help="A run of the service, by its number."),
    ] = None,
    repo: RepoOption = Path(),
    base: BaseOption = None,
    head: HeadOption = None,
    diff: DiffOption = None,
    budget: BudgetOption = None,
    full: FullOption = False,
    holdout: HoldoutOption = 0.0,
    llm: LlmOption = True,
    manifests: ManifestsOption = None,
    no_manifests: NoManifestsOption = False,
    function_map: MapOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say why a test runs for a change or does not: the decision, what each stage said, and what would change it.

    \b
    Examples:
      relay why test_softmax --change 7
      relay why test/test_nn.py::TestNN::test_linear --repo ~/pytorch --base main --head my-branch
    """
    local = any(option is not None for option in (base, head, diff))
    if local == (change is not None):
        raise typer.BadParameter(selection_text.run_or_change(), param_hint="--change")
    out = Output(as_json)
    if change is not None:
        from relay.cli.why_run import why_in_run

        why_in_run(out, test, change, url)
        return
    from relay.cli.selection import Wish, run_selection
    from relay.cli.why_local import why_in_change

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
    why_in_change(out, test, run_selection(wish, out))
