"""`relay doctor`: is everything this machine needs in place, and what to do where it is not."""

from __future__ import annotations

import typer

from relay.cli import text
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output


def doctor(url: UrlOption = None, as_json: JsonOption = False) -> None:
    """Check this machine and what is around it: programs, device, secrets, clocks, room, and every part of the service.

    A warning costs no exit code: it is for what only some machines need, or what waits for another.
    """
    from relay.cli.checks import run_checks
    from relay.cli.exits import ExitCode

    out = Output(as_json)
    checks = run_checks(url)
    failed = sum(check.status == "fail" for check in checks)
    if as_json:
        out.data({"ok": not failed, "checks": [check.as_object() for check in checks]})
    rows = [(out.status(check.status), check.name, check.detail) for check in checks]
    out.table(("", "CHECK", "FOUND"), rows)
    for check in checks:
        if check.next_step and not as_json:
            out.note(f"{check.name}: {check.next_step}")
    if failed:
        if not as_json:
            out.note(text.checks_failed(failed))
        raise typer.Exit(ExitCode.FAILED)
