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
    history: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=200,
            help="Also how it did in the last N runs of the service; or only that.",
        ),
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
    """Say why a test runs for a change or does not: the decision, what each stage said, and what would change it; and
    with --history how it did before.

    \b
    Examples:
      relay why test_softmax --change 7
      relay why test_softmax --history 10
      relay why test/test_nn.py::TestNN::test_linear --repo ~/pytorch --base main --head my-branch
    """
    local = any(option is not None for option in (base, head, diff))
    if (local and change is not None) or not (local or change is not None or history):
        raise typer.BadParameter(selection_text.run_or_change(), param_hint="--change")
    out = Output(as_json)
    if change is not None:
        from relay.cli.why_run import why_in_run

        why_in_run(out, test, change, url, history)
        return
    if not local:
        from relay.cli.why_history import show_history

        show_history(out, test, history or 0, url)
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
    why_in_change(out, test, run_selection(wish, out), url=url, history=history)
