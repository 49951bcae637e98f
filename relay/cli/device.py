"""`relay device ...`: build the emulated device of this machine, list what is built, see whether it works.

The device is another room and is never imported: its programs are run by this interpreter and answer on stdout. They
get no secret, and `-P` keeps the folder the command was called in (a PyTorch checkout, perhaps) off their path.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from relay.cli import device_text as text
from relay.cli.exits import ExitCode
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(no_args_is_help=True, help="The emulated device: build it, list what is built, see it work.")

CacheOption = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="Another folder than the one `import torch` looks into.")
]

_ERROR = "error: "


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
    report = json.loads(_run("workers.spyre.self_test", (), lambda _: None)[1] or "{}")
    if not report:
        raise Failure(text.process_died(), text.rebuild_hint())
    if as_json:
        out.data({"ok": not report["problem"], **report})
    out.say(text.status(report["torch"], report["devices"], report["profile"], report["library"]))
    if report["problem"]:
        if not as_json:
            out.note(f"{_ERROR}{one_line(report['problem'])}")
        raise typer.Exit(ExitCode.FAILED)
    out.say(text.works(report["devices"]))


def _cache_arguments(cache: Path | None) -> tuple[str, ...]:
    return ("--cache", str(cache.expanduser().absolute())) if cache else ()


def _answer(module: str, arguments: tuple[str, ...], note: Callable[[str], None]) -> str:
    """What a program of the device writes to stdout. Raises `Failure` with its own sentence when it fails."""
    from relay.failures import Failure

    code, answer, error = _run(module, arguments, note)
    if code != 0:
        raise Failure(error or text.program_failed(module, code), code="device")
    return answer


def _run(module: str, arguments: tuple[str, ...], note: Callable[[str], None]) -> tuple[int, str, str]:
    """Exit code, stdout, and the error it ended with. What it says before that goes to `note` at once."""
    import os
    import subprocess
    import sys

    from relay.machine.processes import minimal_environment

    names = ("RELAY_DEVICE_CACHE", "TORCH_DEVICE_BACKEND_AUTOLOAD")
    told = {name: value for name, value in os.environ.items() if name.startswith("SPYRE_") or name in names}
    with subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        env=minimal_environment(os.environ, told),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as program:
        assert program.stdout is not None and program.stderr is not None  # noqa: S101, PT018 - both are pipes, above
        error = _last_words(program.stderr, note)
        answer = program.stdout.read()
    return program.returncode, answer, error


def _last_words(lines: IO[str], note: Callable[[str], None]) -> str:
    """The message that begins with `error: ` and goes on to the end; every line before it is passed on."""
    error: list[str] = []
    for line in lines:
        if error or line.startswith(_ERROR):
            error.append(line)
        else:
            note(line.rstrip())
    return "".join(error).removeprefix(_ERROR).rstrip()
