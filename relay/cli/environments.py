"""`relay env ...`: the Pythons of this machine, each with a torch, that runs can be tested on.

They are the workers' business, another room that is never imported: its program is run by this interpreter and answers
with JSON. `relay.cli.programs` says what it gets.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from relay.cli import environments_text as text
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

app = typer.Typer(no_args_is_help=True, help="The torch environments of this machine that runs are tested on.")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the environment is called.")]

_SHOWN_SHA = 12


@app.callback()
def env() -> None:
    """The torch environments of this machine that runs are tested on."""


@app.command("add")
def add(
    name: NameArgument,
    place: Annotated[
        Path, typer.Argument(metavar="PYTHON_OR_VENV", help="A Python, or the folder of a virtual environment.")
    ],
    profile: Annotated[str, typer.Option(metavar="P", help="The device's rule profile there.")] = "compat",
    as_json: JsonOption = False,
) -> None:
    """Take up an environment that has torch and pytest, and build the device for it. A run uses the nearest one."""
    import os

    out = Output(as_json)
    cache = os.environ.get("RELAY_DEVICE_CACHE")
    given = ("--cache", str(Path(cache).expanduser().absolute())) if cache else ()
    arguments = ("add", "--profile", profile, *given, "--", name, str(place.expanduser().absolute()))
    row = _answer(arguments, out)
    if as_json:
        out.data(row)
    out.say(text.added(row["name"], row["torch_version"], row["python_version"]))


@app.command("list")
def show_list(as_json: JsonOption = False) -> None:
    """List the environments: the worker's own first. What cannot be used now says why."""
    out = Output(as_json)
    rows = environments(out)
    if as_json:
        out.data(rows)
        return
    header = ("", "NAME", "TORCH", "BUILT FROM", "PYTHON", "PROFILE", "PATH")
    out.table(header, [_row(out, row) for row in rows])
    for row in rows:
        if row["problem"]:
            out.note(text.unusable(row["name"], one_line(row["problem"])))


@app.command("remove")
def remove(name: NameArgument, as_json: JsonOption = False) -> None:
    """Forget an environment. Its folder stays as it is."""
    out = Output(as_json)
    row = _answer(("remove", "--", name), out)
    if as_json:
        out.data(row)
    out.say(text.removed(row["name"]))


def environments(out: Output) -> list[dict[str, str]]:
    """The environments of this machine. Raises `Failure` when they cannot be told."""
    import os

    rows: list[dict[str, str]] = _answer(("list", "--profile", os.environ.get("RELAY_DEVICE_PROFILE") or "compat"), out)
    return rows


def _row(out: Output, row: dict[str, str]) -> tuple[str, ...]:
    state = out.status("fail" if row["problem"] else "ok")
    sha = row["torch_git_sha"][:_SHOWN_SHA]
    return state, row["name"], row["torch_version"], sha, row["python_version"], row["profile"], row["python"]


def _answer(arguments: tuple[str, ...], out: Output) -> Any:
    """What the workers' program answers. Raises `Failure` with its own sentence when it refuses."""
    import os

    from relay.cli.connect import load_settings
    from relay.cli.programs import run_program
    from relay.failures import Failure

    work_dir = os.environ.get("RELAY_WORK_DIR") or str(load_settings().state_dir / "work")
    answer = run_program("workers.environments.program", ("--work-dir", work_dir, *arguments), {}, out.note)
    if answer.code != 0:
        raise Failure(answer.error or text.program_failed(answer.code), code="environment")
    return json.loads(answer.output)
