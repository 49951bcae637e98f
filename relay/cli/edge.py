"""`relay edge ...`: what selections missed once and run since, and forgetting what is wrong of it. By HTTP only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import edge_text
from relay.cli.asking import confirm
from relay.cli.options import JsonOption, UrlOption, record_number, words
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.edge_views import EdgeView, RemovedEdges

app = typer.Typer(help="See what selections missed and run since; forget what is wrong.", no_args_is_help=True)

RunOption = Annotated[
    int | None,
    typer.Option("--run", metavar="ID", parser=record_number, help="Only what the selection of this run missed."),
]
DeviceOption = Annotated[
    str, typer.Option("--device", metavar="NAME", help="Of this device, instead of the service's own.")
]
#: As many as one request takes.
_AT_ONCE = 500


@app.command("list")
def list_edges(
    part: Annotated[
        str | None, typer.Argument(metavar="TEXT", parser=words(1_000), help="A part of the file or the test.")
    ] = None,
    *,
    run: RunOption = None,
    device: DeviceOption = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many.")] = 50,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List which tests run with which changed files because a selection missed them once, newest first.

    \b
    Examples:
      relay edge list torch/functional.py
      relay edge list --run 7 --json --fields id,changed_path,base_test
    """
    from relay.cli.connect import open_client

    out = Output(as_json)
    with open_client(url) as client:
        page = client.edges(part=part or "", run=run, device=device, limit=limit)
    if as_json:
        out.data(page)
        return
    out.table(("EDGE", "CHANGED FILE", "TEST", "MISSED BY", "SINCE"), [_row(out, edge) for edge in page.edges])
    out.note(edge_text.counted(len(page.edges), page.total))


@app.command("remove")
def remove_edges(
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="ID", parser=record_number, help="Edges, by number.")
    ] = None,
    *,
    run: RunOption = None,
    device: DeviceOption = "",
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget edges, by number or all of a run. What is found missed again is remembered again.

    \b
    Examples:
      relay edge remove 17 18
      relay edge remove --run 7 --yes
    """
    from relay.cli.connect import open_operator_client

    if (run is None) == (not ids):
        raise typer.BadParameter(edge_text.ids_or_run(), param_hint="--run")
    out = Output(as_json)
    with open_operator_client(url) as client:
        chosen = ids or _of_run(client, run or 0, device)
        if chosen:
            confirm(edge_text.question(len(chosen)))
        answers = [client.remove_edges(chosen[at : at + _AT_ONCE]) for at in range(0, len(chosen), _AT_ONCE)]
    _tell(out, answers)


def _of_run(client: ApiClient, run: int, device: str) -> list[int]:
    """All of them, however many."""
    found: list[int] = []
    cursor: str | None = None
    while True:
        page = client.edges(run=run, device=device, limit=_AT_ONCE, cursor=cursor)
        found += [edge.id for edge in page.edges]
        cursor = client.cursor_of(page)
        if cursor is None:
            return found


def _tell(out: Output, answers: list[RemovedEdges]) -> None:
    from relay.client import NotFound

    removed = [edge for answer in answers for edge in answer.removed]
    unknown = [number for answer in answers for number in answer.unknown]
    if unknown and not removed:
        raise NotFound(edge_text.none_of_these(unknown), edge_text.none_of_these_hint())
    if out.as_json:
        out.data({"removed": removed, "unknown": unknown})
        return
    out.table(("EDGE", "CHANGED FILE", "TEST", "MISSED BY", "SINCE"), [_row(out, edge) for edge in removed])
    out.note(edge_text.removed(len(removed)))
    if unknown:
        out.note(edge_text.none_of_these(unknown))
    if removed:
        out.note(edge_text.again())


def _row(out: Output, edge: EdgeView) -> tuple[str, ...]:
    names = (one_line(edge.changed_path, 1_000), one_line(edge.base_test, 1_000))
    return (str(edge.id), *names, f"run {edge.run_id}", out.when(edge.created_at))
