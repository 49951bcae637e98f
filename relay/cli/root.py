"""The command tree. Building it imports command signatures, never what the commands need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
from typer.models import CommandInfo, TyperInfo

from relay import __version__
from relay.cli import (
    about,
    allowlist,
    audit,
    database,
    delivery,
    devgithub,
    device,
    doctor,
    environments,
    function_map,
    help_text,
    helping,
    manifests,
    run,
    run_change,
    run_log,
    select,
    service,
    status,
    submit,
    text,
    why,
)
from relay.cli.demo import demo
from relay.cli.exits import MEANINGS
from relay.cli.manner import Colour, Manner, behave


def build() -> typer.Typer:
    """The whole `relay` command."""
    app = typer.Typer(
        name="relay",
        help=text.ABOUT,
        epilog=text.exit_codes((int(code), meaning) for code, meaning in MEANINGS.items()),
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: the same words on a terminal, in a pipe and in the README
        add_completion=False,  # `relay completion` is that
        pretty_exceptions_enable=False,  # a traceback that prints local variables could print a token
    )
    app.callback()(_root)
    app.command("demo")(demo)
    app.command("up")(service.up)
    app.command("serve")(service.serve)
    app.command("worker")(service.worker)
    groups = {
        "run": _run_group(),
        "audit": audit.app,
        "allowlist": allowlist.app,
        "delivery": delivery.app,
        "manifest": manifests.app,
        "device": device.app,
        "env": environments.app,
        "map": function_map.app,
        "db": database.app,
        "devgithub": devgithub.app,
    }
    for name, group in (groups | {"token": about.token_app}).items():
        group.rich_markup_mode = app.rich_markup_mode
        app.add_typer(group, name=name)
    app.command("status")(status.status)
    app.command("select")(select.select)
    app.command("why")(why.why)
    app.command("submit")(submit.submit)
    app.command("callback")(submit.callback)
    app.command("doctor")(doctor.doctor)
    app.command("version")(about.version)
    app.command("completion")(helping.completion)
    app.command("help")(helping.show_help)
    for info in (*app.registered_commands, *(it for group in app.registered_groups for it in _commands(group))):
        info.epilog = info.epilog or help_text.ANYWHERE
    return app


def _commands(group: TyperInfo) -> list[CommandInfo]:
    return group.typer_instance.registered_commands if group.typer_instance else []


def _run_group() -> typer.Typer:
    """`relay run`: reading, telling and changing are modules of their own."""
    group = typer.Typer(help=run.ABOUT, no_args_is_help=True)
    commands: dict[str, Callable[..., None]] = {
        "list": run.list_runs,
        "view": run.view_run,
        "watch": run.watch_run,
        "failures": run_log.run_failures,
        "logs": run_log.run_logs,
        "report": run.report_run,
        "rerun": run_change.rerun,
        "cancel": run_change.cancel,
    }
    for name, command in commands.items():
        group.command(name)(command)
    return group


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"relay {__version__}")
        raise typer.Exit


def _root(
    *,
    colour: Annotated[Colour, typer.Option("--color", help="Colour: on a terminal (auto), always or never.")] = "auto",
    fields: Annotated[
        str, typer.Option("--fields", metavar="A,B.C", help="With --json: only these fields; B.C is C of B.")
    ] = "",
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing beside the data but errors.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Say what is asked of the service, and more.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Answer every question with yes.")] = False,
    no_input: Annotated[bool, typer.Option("--no-input", help="Never ask; what would ask fails.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options that may stand anywhere in a command line; `--version` has acted by the time this runs."""
    if quiet and verbose:
        raise typer.BadParameter(text.quiet_and_verbose(), param_hint="--quiet")
    wanted = tuple(name.strip() for name in fields.split(",") if name.strip())
    behave(Manner(colour, quiet, verbose, yes, no_input, wanted))
