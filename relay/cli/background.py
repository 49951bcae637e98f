"""`relay background`: what the service does without being asked, in the foreground."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.cli import text
from relay.cli.output import Output

RingsOption = Annotated[int | None, typer.Option("--rings", hidden=True, help="Given by the relay that starts this.")]


def background(rings: RingsOption = None) -> None:
    """Deliver to backends and sweep, beside web parts with --web-only. Any number of them share one database."""
    from relay.app import create_context
    from relay.background import background as in_background
    from relay.cli.connect import load_settings
    from relay.cli.database import telling_of_the_database
    from relay.cli.foreground import log_to_stderr, sending_spans, started, tell_of_open_files, watching_signals
    from relay.machine.background_process import given_settings, hear
    from relay.settings import with_secrets

    settings = with_secrets(load_settings() if rings is None else given_settings())
    log_to_stderr(settings)
    if rings is None:  # else it was said by the relay that started this
        tell_of_open_files(settings)
    with sending_spans(settings, "background"), watching_signals() as stop:
        with telling_of_the_database(settings.database_url):
            context = create_context(settings)
        try:
            with in_background(context):
                if rings is None:
                    Output().say(text.in_background())
                else:
                    hear(rings)
                started()
                stop.wait()
        finally:
            context.close()
