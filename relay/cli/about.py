"""`relay version` and `relay token show`: what this installation is and where it keeps its secrets."""

from __future__ import annotations

from typing import Annotated

import typer

from relay import __version__
from relay.cli import text
from relay.cli.options import JsonOption
from relay.cli.output import Output

token_app = typer.Typer(help="Where the tokens of this machine are.", no_args_is_help=True)


def version(as_json: JsonOption = False) -> None:
    """Print the versions that matter in a report: relay, Python, torch."""
    import platform

    from relay.cli.checks import installed_version

    out = Output(as_json)
    versions = {
        "relay": __version__,
        "python": platform.python_version(),
        "torch": installed_version("torch"),
        "platform": platform.platform(),
    }
    if as_json:
        out.data(versions)
    for name, value in versions.items():
        out.say(f"{name} {value or text.not_installed()}")


@token_app.callback()
def _tokens() -> None:
    """Where the tokens of this machine are."""


@token_app.command("show")
def show_tokens(
    reveal: Annotated[bool, typer.Option("--reveal", help="Print the values too. They are secrets.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the files that hold the webhook secret, the worker token and the operator token."""
    from relay.cli.connect import load_settings
    from relay.settings import SECRET_FILES

    out = Output(as_json)
    settings = load_settings()
    rows = []
    for name, file in SECRET_FILES.items():
        path = settings.state_dir / file
        given = getattr(settings, name)
        value = given.get_secret_value() if given else path.read_text(encoding="utf-8").strip() if path.exists() else ""
        source = f"RELAY_{name.upper()}" if given else str(path)
        rows.append({"name": name, "source": source, "present": bool(value), **({"value": value} if reveal else {})})
    if as_json:
        out.data(rows)
        return
    for row in rows:
        cells = (
            str(row["name"]),
            text.token_source(str(row["source"]), bool(row["present"])),
            str(row.get("value", "")),
        )
        out.say("\t".join(cells).rstrip())
