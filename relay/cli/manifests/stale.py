"""`relay manifest stale`: names that an upstream tree no longer has, and tests that no manifest lists yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.manifests import text
from relay.cli.manifests.layout import LINE_CAP, Format, FormatOption, annotation
from relay.cli.options import JsonOption
from relay.cli.output import Output, clean, one_line

if TYPE_CHECKING:
    from selector.manifests.comparing.staleness import StaleFinding


def stale(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="MANIFEST", help="Manifest files or folders [default: RELAY_MANIFEST_DIR]."),
    ] = None,
    *,
    upstream: Annotated[Path, typer.Option(metavar="PATH", help="The upstream tree to compare with.")],
    rev: Annotated[str | None, typer.Option(metavar="REV", help="A commit of it [default: the files there].")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="An earlier commit: list only tests that are new since then.")
    ] = None,
    exit_status: Annotated[bool, typer.Option("--exit-status", help="Exit with 5 when a name is stale.")] = False,
    layout: FormatOption = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Compare the names in manifests with an upstream tree, and propose an edit for each that is stale.

    Nothing of the tree is executed. The exit code is 0 when it worked, whatever was found.

    \b
    Examples:
      relay manifest stale --upstream ~/pytorch
      relay manifest stale --upstream ~/pytorch --rev v2.14.0 --since v2.13.0
    """
    from relay.cli.manifests.sources import named_documents, unusable
    from relay.cli.manifests.upstream import upstream_tree
    from selector.manifests import ManifestError
    from selector.manifests.comparing.staleness import Staleness
    from selector.manifests.comparing.staleness import stale as find_stale

    documents = named_documents(paths)
    try:
        findings = find_stale(
            documents, upstream_tree(upstream, rev), upstream_tree(upstream, since) if since else None
        )
    except ManifestError as error:
        raise unusable(error) from error
    _write(Output(as_json or layout is Format.JSON), findings, annotate=layout is Format.GITHUB)
    if exit_status and any(finding.kind is not Staleness.UNLISTED_TESTS for finding in findings):
        raise typer.Exit(ExitCode.RED)


def _write(out: Output, findings: Sequence[StaleFinding], *, annotate: bool) -> None:
    import dataclasses

    if out.as_json:
        out.data([dataclasses.asdict(finding) for finding in findings])
    for finding in findings:
        (_annotate if annotate else _tell)(out, finding)
    counts = Counter(finding.kind for finding in findings)
    out.note(text.stale_summary({kind.replace("_", " "): count for kind, count in counts.items()}))


def _tell(out: Output, finding: StaleFinding) -> None:
    out.say(one_line(str(finding), LINE_CAP))
    for number, line in enumerate(clean(finding.edit, LINE_CAP).splitlines()):
        out.say(f"    {'' if number else 'edit: '}{line}")


def _annotate(out: Output, finding: StaleFinding) -> None:
    """A name that never matches is a warning; a test nobody listed yet is something to know."""
    from selector.manifests.comparing.staleness import Staleness

    severity = "notice" if finding.kind in (Staleness.UNLISTED_TESTS, Staleness.NEW_TESTS) else "warning"
    message = f"{finding.message}; {finding.edit}" if finding.edit else finding.message
    out.say(annotation(severity, (finding.manifest, finding.line, finding.column), finding.kind, message))
