"""The command tree. Building it imports command signatures, never what the commands need."""

from __future__ import annotations

from typing import Annotated

import typer

from relay import __version__
from relay.cli import (
    about,
    allowlist,
    audit,
    delivery,
    devgithub,
    device,
    doctor,
    environments,
    function_map,
    manifests,
    run,
    select,
    service,
    submit,
    text,
    why,
)
from relay.cli.demo import demo
from relay.cli.exits import MEANINGS


def build() -> typer.Typer:
    """The whole `relay` command."""
    app = typer.Typer(
        name="relay",
        help=text.ABOUT,
        epilog=text.exit_codes((int(code), meaning) for code, meaning in MEANINGS.items()),
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: the same words on a terminal, in a pipe and in the README
        pretty_exceptions_enable=False,  # a traceback that prints local variables could print a token
    )
    app.callback()(_root)
    app.command("demo")(demo)
    app.command("up")(service.up)
    app.command("serve")(service.serve)
    app.command("worker")(service.worker)
    groups = {
        "run": run.app,
        "audit": audit.app,
        "allowlist": allowlist.app,
        "delivery": delivery.app,
        "manifest": manifests.app,
        "device": device.app,
        "env": environments.app,
        "map": function_map.app,
        "devgithub": devgithub.app,
    }
    for name, group in (groups | {"token": about.token_app}).items():
        group.rich_markup_mode = app.rich_markup_mode
        app.add_typer(group, name=name)
    app.command("select")(select.select)
    app.command("why")(why.why)
    app.command("submit")(submit.submit)
    app.command("callback")(submit.callback)
    app.command("doctor")(doctor.doctor)
    app.command("version")(about.version)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relay {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the command itself; `--version` has acted by the time this runs."""
