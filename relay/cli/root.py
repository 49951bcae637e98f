"""The command tree: its names, and the options of `relay` itself. Building it imports no command."""

from __future__ import annotations

from typing import Annotated, cast

import typer
from typer.main import get_command

from relay import __version__
from relay.cli import help_text, text
from relay.cli.exits import MEANINGS
from relay.cli.lazy import Entry, LazyGroup
from relay.cli.manner import Colour, Manner, behave

#: Every command, in the order of the help: serving, runs, changes, backends, what maintainers and machines need.
COMMANDS = {
    "up": Entry("relay.cli.service:up", "Serve on this machine: the web part and workers."),
    "serve": Entry("relay.cli.service:serve", "Serve without workers; they run elsewhere."),
    "background": Entry("relay.cli.background:background", "Deliver and sweep only, beside web parts alone."),
    "worker": Entry("relay.cli.service:worker", "Run one worker."),
    "demo": Entry("relay.cli.demo:demo", "Show one upstream change go all the way."),
    "status": Entry("relay.cli.status:status", "Show how the service is, and what is under way."),
    "run": Entry("relay.cli.run_group:app", "Look at runs, follow, repeat and stop them."),
    "why": Entry("relay.cli.why:why", "Say why a test runs for a change, or does not."),
    "select": Entry("relay.cli.select:select", "Select the tests a change can affect, and say why."),
    "upgrade": Entry("relay.cli.upgrade:upgrade", "Say what a new upstream release means here."),
    "audit": Entry("relay.cli.audit:app", "Run everything, and see what selections missed."),
    "edge": Entry("relay.cli.edge:app", "See what selections missed; forget what is wrong."),
    "delivery": Entry("relay.cli.delivery:app", "See what leaves the relay; send again what is stuck."),
    "submit": Entry("relay.cli.submit:submit", "Hand over another relay's dispatch."),
    "callback": Entry("relay.cli.submit:callback", "Report a job to the relay that dispatched it."),
    "manifest": Entry("relay.cli.manifests:app", "Check, explain and write the device's manifests."),
    "allowlist": Entry("relay.cli.allowlist:app", "Check the list of backends, show the one in force."),
    "device": Entry("relay.cli.device:app", "Build the emulated device, and see it work."),
    "env": Entry("relay.cli.environments:app", "Keep the torch environments that runs are tested on."),
    "map": Entry("relay.cli.function_map:app", "Record which functions each test executes."),
    "db": Entry("relay.cli.database:app", "Bring the service's database up to date."),
    "token": Entry("relay.cli.about:token_app", "Give and take back access; find the tokens."),
    "devgithub": Entry("relay.cli.devgithub:app", "Run a GitHub here, to try a relay with."),
    "doctor": Entry("relay.cli.doctor:doctor", "Check this machine: is everything there that it needs?"),
    "version": Entry("relay.cli.about:version", "Print the versions that matter in a report."),
    "completion": Entry("relay.cli.helping:completion", "Have a shell complete commands and options."),
    "help": Entry("relay.cli.helping:show_help", "Explain a command, or what all commands share."),
}


def build() -> LazyGroup:
    """The whole `relay` command."""
    app = typer.Typer(
        name="relay",
        cls=LazyGroup,
        help=text.ABOUT,
        epilog=text.exit_codes((int(code), meaning) for code, meaning in MEANINGS.items()),
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: the same words on a terminal, in a pipe and in the README
        add_completion=False,  # `relay completion` is that
        pretty_exceptions_enable=False,  # a traceback that prints local variables could print a token
    )
    app.callback()(_root)
    root = cast(LazyGroup, get_command(app))  # of the class that was asked for
    root.fill(COMMANDS, help_text.ANYWHERE)
    return root


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
