"""`relay manifest check`: one line for each finding, in the form that editors and CI jump from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.manifests import text
from relay.cli.manifests.layout import LINE_CAP, Format, FormatOption, annotation
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from selector.manifests import Finding, ManifestDocument


def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Manifest files or folders [default: RELAY_MANIFEST_DIR]."),
    ] = None,
    *,
    upstream: Annotated[
        Path | None, typer.Option(metavar="PATH", help="An upstream tree, for the rules that need its sources.")
    ] = None,
    rev: Annotated[str | None, typer.Option(metavar="REV", help="A commit of it [default: the files there].")] = None,
    closed_issues: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON list of closed issues, to find entries that cite one."),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="First mend in the files what is safe to mend; comments are kept.")
    ] = False,
    rules: Annotated[bool, typer.Option("--rules", help="List the rules instead: why, and how to fix.")] = False,
    layout: FormatOption = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Check manifests: exit code 1 when there is an error, 0 when there are none or only warnings.

    \b
    Examples:
      relay manifest check
      relay manifest check test_manifests/demo --format github
      relay manifest check --upstream ~/pytorch --rev v2.13.0
      gh issue list --repo OWNER/NAME --state closed --limit 5000 --json url > closed.json
      relay manifest check --closed-issues closed.json
      relay manifest check --fix
      relay manifest check --rules
    """
    if rules:
        _write_rules(Output(as_json or layout is Format.JSON))
        return
    from relay.cli.manifests.sources import named_documents
    from relay.cli.manifests.upstream import upstream_tree
    from selector.manifests.lint import lint

    documents = named_documents(paths)
    if fix:
        documents = [_mended(document) for document in documents]
    tree = None if upstream is None else upstream_tree(upstream, rev)
    findings = lint(documents, tree, today=datetime.now(UTC).date(), closed=_closed(closed_issues))
    errors = sum(finding.severity == "error" for finding in findings)
    _WRITERS[Format.JSON if as_json else layout](findings)
    counts = f"{_count(errors, 'error')}, {_count(len(findings) - errors, 'warning')}"
    sys.stderr.write(f"{_count(len(documents), 'manifest')}: {counts}\n")
    if errors:
        raise typer.Exit(ExitCode.FAILED)


def _closed(path: Path | None) -> frozenset[str]:
    from relay.failures import Failure
    from selector.manifests.lint import read_closed_issues

    if path is None:
        return frozenset()
    try:
        return read_closed_issues(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(text.no_closed_issues(str(path), str(error)), text.no_closed_issues_hint()) from error


def _mended(document: ManifestDocument) -> ManifestDocument:
    """The manifest after the repair, which is in its file then; what was done and what was not is told beside."""
    from relay.cli.manifests.folder import BadManifests
    from relay.manifests import ManifestFolderError, replace_manifest
    from selector.manifests import ManifestDocument
    from selector.manifests.lint.repair import repair

    done = repair(document)
    if done.mended:
        try:
            replace_manifest(Path(document.name), done.text)
        except ManifestFolderError as error:
            raise BadManifests(str(error)) from error
        rules = ", ".join(f"{count} {rule}" for rule, count in done.mended.items())
        sys.stderr.write(f"{one_line(document.name)}: mended {rules}\n")
    for refusal in done.refused:
        sys.stderr.write(f"{one_line(refusal, LINE_CAP)}\n")
    return ManifestDocument(document.name, done.text)


def _write_rules(out: Output) -> None:
    import dataclasses

    from selector.manifests.lint import RULES

    if out.as_json:
        out.data([dataclasses.asdict(rule) for rule in RULES.values()])
    for rule in RULES.values():
        traits = [rule.severity, *["--fix"] * rule.fixable, *["--upstream"] * rule.needs_upstream]
        out.say(f"{rule.id} ({', '.join(traits)})\n    {rule.why}\n    fix: {rule.how}")


def _write_text(findings: Sequence[Finding]) -> None:
    for finding in findings:
        sys.stdout.write(f"{one_line(str(finding), LINE_CAP)} [{finding.rule}]\n")


def _write_json(findings: Sequence[Finding]) -> None:
    import dataclasses

    Output(as_json=True).data([dataclasses.asdict(finding) for finding in findings])


def _write_github(findings: Sequence[Finding]) -> None:
    for finding in findings:
        place = (finding.file, finding.line, finding.column)
        sys.stdout.write(f"{annotation(finding.severity, place, finding.rule, finding.message)}\n")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_WRITERS: dict[Format, Callable[[Sequence[Finding]], None]] = {
    Format.TEXT: _write_text,
    Format.JSON: _write_json,
    Format.GITHUB: _write_github,
}
