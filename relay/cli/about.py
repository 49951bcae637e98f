"""`relay version`: what this installation is. `relay token` is in a module of its own and joins the tree from here."""

from __future__ import annotations

from relay import __version__
from relay.cli import text
from relay.cli.options import JsonOption
from relay.cli.output import Output
from relay.cli.token import app as token_app

__all__ = ["token_app", "version"]


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
