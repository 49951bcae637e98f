"""`relay device ...`: build the emulated device of this machine, list what is built, see whether it works.

The device is another room and is never imported: its programs are run by this interpreter and answer on stdout.
`relay.cli.programs` says what they get.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relay.cli import device_text as text
from relay.cli.exits import ExitCode
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.cli.programs import Answer as ProgramAnswer

app = typer.Typer(no_args_is_help=True, help="The emulated device: build it, list what is built, see it work.")

CacheOption = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="Another folder than the one `import torch` looks into.")
]


@app.callback()
def device() -> None:
    """The emulated device: build it, list what is built, see it work."""


@app.command("build")
def build(cache: CacheOption = None, as_json: JsonOption = False) -> None:
    """Compile the device for the installed torch, unless that has been done, and print the library's path."""
    out = Output(as_json)
    library = _answer("workers.spyre.build", _cache_arguments(cache), out.note).strip()
    if as_json:
        out.data({"library": library})
    out.say(library)


@app.command("list")
def show_list(cache: CacheOption = None, as_json: JsonOption = False) -> None:
    """List the built libraries, and which of them `import torch` takes here."""
    out = Output(as_json)
    inventory = json.loads(_answer("workers.spyre.inventory", _cache_arguments(cache), out.note))
    if as_json:
        out.data(inventory)
        return
    libraries = inventory["libraries"]
    out.table(("", "TORCH", "DIGEST", "COMPILER", "LIBRARY"), [_row(out, library) for library in libraries])
    for library in libraries:
        if library["problem"]:
            out.note(text.library_problem(library["path"], one_line(library["problem"])))
    if not any(library["used"] and not library["problem"] for library in libraries):
        out.note(text.not_built(inventory["wanted"], one_line(inventory["problem"])))


def _row(out: Output, library: dict[str, Any]) -> tuple[str, ...]:
    state = "fail" if library["problem"] else "ok" if library["used"] else ""
    return out.status(state), library["torch"], library["digest"], library["compiler"], library["path"]


@app.command("status")
def status(as_json: JsonOption = False) -> None:
    """Import torch in a process of its own and add two tensors on every device. Exit code 1 when that fails."""
    from relay.failures import Failure

    out = Output(as_json)
    report = json.loads(ask_device("workers.spyre.self_test", (), lambda _: None).output or "{}")
    if not report:
        raise Failure(text.process_died(), text.rebuild_hint())
    if as_json:
        out.data({"ok": not report["problem"], **report})
    out.say(text.status(report["torch"], report["devices"], report["profile"], report["library"]))
    if report["problem"]:
        if not as_json:
            out.note(f"error: {one_line(report['problem'])}")
        raise typer.Exit(ExitCode.FAILED)
    out.say(text.works(report["devices"]))


def _cache_arguments(cache: Path | None) -> tuple[str, ...]:
    return ("--cache", str(cache.expanduser().absolute())) if cache else ()


def _answer(module: str, arguments: tuple[str, ...], note: Callable[[str], None]) -> str:
    """What a program of the device writes to stdout. Raises `Failure` with its own sentence when it fails."""
    from relay.failures import Failure

    answer = ask_device(module, arguments, note)
    if answer.code != 0:
        raise Failure(answer.error or text.program_failed(module, answer.code), code="device")
    return answer.output


def ask_device(
    module: str, arguments: tuple[str, ...], note: Callable[[str], None], *, timeout_s: float | None = None
) -> ProgramAnswer:
    """Run a program of the device's room, which is never imported, with the variables that are about it."""
    import os

    from relay.cli.programs import run_program

    names = ("RELAY_DEVICE_CACHE", "TORCH_DEVICE_BACKEND_AUTOLOAD")
    told = {name: value for name, value in os.environ.items() if name.startswith("SPYRE_") or name in names}
    return run_program(module, arguments, told, note, timeout_s=timeout_s)
