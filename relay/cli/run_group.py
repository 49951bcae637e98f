"""`relay run`: reading, telling and changing are modules of their own; here they are one group."""

from __future__ import annotations

from collections.abc import Callable

import typer

from relay.cli import run_change, run_log, run_reading, run_view

app = typer.Typer(help=run_reading.ABOUT, no_args_is_help=True)

_COMMANDS: dict[str, Callable[..., None]] = {
    "list": run_reading.list_runs,
    "view": run_view.view_run,
    "watch": run_reading.watch_run,
    "failures": run_log.run_failures,
    "logs": run_log.run_logs,
    "report": run_reading.report_run,
    "rerun": run_change.rerun,
    "cancel": run_change.cancel,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
