"""`relay manifest ...`: work on the YAML manifests without a running service. One module per command.

Light to import: what a command needs, it imports when it runs.
"""

from __future__ import annotations

import typer

from relay.cli.manifests import (
    check,
    diff,
    explain,
    export,
    generate,
    migrate,
    model_ops,
    promote,
    resolve,
    schema,
    stale,
)

app = typer.Typer(no_args_is_help=True, help="Work on the YAML manifests that say which tests run on the device.")
app.command("check")(check.check)
app.command("diff")(diff.diff)
app.command("explain")(explain.explain)
app.command("export")(export.export)
app.command("generate")(generate.generate)
app.command("migrate")(migrate.migrate)
app.command("model-ops")(model_ops.model_ops)
app.command("promote")(promote.promote)
app.command("resolve")(resolve.resolve)
app.command("schema")(schema.schema)
app.command("stale")(stale.stale)


@app.callback()
def manifest() -> None:
    """Work on the YAML manifests that say which tests run on the device."""
