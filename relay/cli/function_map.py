"""`relay map record`: which functions of PyTorch each upstream test executes, for stage 2 to select by.

Tests run in the workers' room, which is never imported: `relay.cli.programs` says what its program gets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from relay.cli.options import JsonOption
from relay.cli.output import Output

app = typer.Typer(no_args_is_help=True, help="The map of functions to the tests that execute them.")


@app.callback()
def function_map() -> None:
    """The map of functions to the tests that execute them."""


@app.command("record")
def record(
    *,
    tree: Annotated[Path, typer.Option(metavar="DIR", help="The upstream checkout whose tests run.")],
    out: Annotated[Path, typer.Option(metavar="MAP", help="The map to write, or to bring up to date.")],
    files: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="TEST_FILE", help="Only these [default: those that the manifests name]."),
    ] = None,
    manifests: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The manifests [default: RELAY_MANIFEST_DIR].")
    ] = None,
    device: Annotated[str, typer.Option(metavar="DEVICE", help="spyre, or cpu.")] = "spyre",
    as_json: JsonOption = False,
) -> None:
    """Run upstream tests with the installed torch and write down which functions each of them executes.

    The map only ever adds tests to a selection. Recording is quick on Python 3.12 and later, and slow before.

    \b
    Examples:
      relay map record --tree ~/pytorch --out functions.map --file test/test_view_ops.py
      relay select --repo ~/pytorch --base main --map functions.map
    """
    from relay.cli import function_map_text as text
    from relay.cli.programs import run_program
    from relay.failures import Failure

    shown = Output(as_json)
    if not tree.is_dir():
        raise Failure(text.no_tree(str(tree)), text.no_tree_hint())
    wanted = files or _named_in_manifests(manifests)
    if not wanted:
        raise Failure(text.no_files(), text.no_files_hint())
    arguments = ("--tree", str(tree), "--out", str(out), "--device", device, *_cache(), "--", *wanted)
    answer = run_program("workers.map_program", arguments, {}, shown.note)
    if answer.code:
        raise Failure(answer.error or text.nothing_recorded(), text.nothing_recorded_hint())
    figures = json.loads(answer.output)
    if as_json:
        shown.data(figures)
        return
    shown.say(text.recorded(str(out), len(figures["recorded"]), figures["files"], figures["tests"]))


def _named_in_manifests(folder: Path | None) -> list[str]:
    from relay.cli.connect import load_settings
    from relay.cli.manifests.folder import read_manifests

    return sorted(read_manifests(folder or load_settings().manifest_dir).files())


def _cache() -> tuple[str, ...]:
    import os

    cache = os.environ.get("RELAY_DEVICE_CACHE")
    return ("--cache", str(Path(cache).expanduser().absolute())) if cache else ()
