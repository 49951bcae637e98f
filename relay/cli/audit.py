"""`relay audit ...`: run everything on the branch, and see whose selection had missed what broke. By HTTP only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import audit_text, text
from relay.cli.options import JsonOption, UrlOption, record_number, words
from relay.cli.output import Output

if TYPE_CHECKING:
    from relay.audit_views import AuditView

app = typer.Typer(help="Run everything on the branch, and see what the selections missed.", no_args_is_help=True)


@app.command("start")
def start_audit(
    *,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", parser=words(100), help="On this device instead of the usual one.")
    ] = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Start an audit: every test on the newest pushed commit, against that of the audit before."""
    from relay.cli.connect import open_operator_client

    out = Output(as_json)
    with open_operator_client(url) as client:
        audit = client.start_audit(device)
    if as_json:
        out.data(audit)
        return
    out.say(audit_text.started(audit.id, audit.base_sha, audit.head_sha))
    out.note(text.next_step(text.watch_command(audit.id)))


@app.command("list")
def list_audits(
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """List audits, newest first."""
    from relay.cli.connect import open_client

    out = Output(as_json)
    with open_client(url) as client:
        page = client.audits(limit=limit)
    if as_json:
        out.data(page)
        return
    heads = ("AUDIT", "STATE", "COMMIT", "BROKEN", "MISSED", "FALSE GREEN", "CREATED")
    out.table(heads, [_row(out, audit) for audit in page.audits])
    if not page.audits:
        out.note(audit_text.no_audits())


@app.command("show")
def show_audit(
    audit_id: Annotated[
        int, typer.Argument(metavar="ID", parser=record_number, help="The audit: the number of its run.")
    ],
    *,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show an audit: what broke since the one before, and whose selection missed it."""
    from relay.cli.connect import open_client

    out = Output(as_json)
    with open_client(url) as client:
        audit = client.audit(audit_id)
    if as_json:
        out.data(audit)
        return
    out.say(audit_text.headline(audit))
    rows = [(test.outcome, str(test.missed_by or ""), test.test) for test in audit.tests]
    if rows:
        out.table(("OUTCOME", "RUN", "TEST"), rows)


def _row(out: Output, audit: AuditView) -> tuple[str, ...]:
    missed = sum(test.missed_by is not None for test in audit.tests)
    rate = audit.false_green_rate
    share = "" if rate is None else f"{rate:.1%}"
    broken = str(len(audit.tests))
    return (str(audit.id), audit.state, audit.head_sha[:10], broken, str(missed), share, out.when(audit.created_at))
