"""`relay manifest check`: one line for each finding, in the form that editors and CI jump from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from selector.manifests import Finding, ManifestDocument

_LINE_CAP = 2_000


class Format(StrEnum):
    """How findings are printed; `github` makes annotations of a workflow run."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


def check(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Manifest files or folders [default: RELAY_MANIFEST_DIR]."),
    ] = None,
    *,
    layout: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Check manifests: exit code 1 when there is an error, 0 when there are none or only warnings.

    \b
    Examples:
      relay manifest check
      relay manifest check test_manifests/demo --format github
    """
    documents = _documents(context, paths or [_default_folder()])
    findings = _findings(documents)
    errors = sum(finding.severity == "error" for finding in findings)
    _WRITERS[Format.JSON if as_json else layout](findings)
    counts = f"{_count(errors, 'error')}, {_count(len(findings) - errors, 'warning')}"
    sys.stderr.write(f"{_count(len(documents), 'manifest')}: {counts}\n")
    if errors:
        raise typer.Exit(ExitCode.FAILED)


def _default_folder() -> Path:
    from relay.cli.connect import load_settings

    folder = load_settings().manifest_dir
    # Shorter, and what editors and GitHub want to see, when the folder is below the working directory.
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _documents(context: typer.Context, paths: Sequence[Path]) -> list[ManifestDocument]:
    from relay.manifests import ManifestFolderError, manifest_files, read_manifest

    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise typer.BadParameter(f"there is no file or folder {path}.", context, param_hint="PATH")
        found = manifest_files(path) if path.is_dir() else [path]
        if not found:
            raise typer.BadParameter(f"the folder {path} holds no *.yaml file.", context, param_hint="PATH")
        files.update(dict.fromkeys(found))
    try:
        return [read_manifest(file, file.as_posix()) for file in files]
    except ManifestFolderError as error:
        raise typer.BadParameter(f"{error}.", context, param_hint="PATH") from error


def _findings(documents: Sequence[ManifestDocument]) -> tuple[Finding, ...]:
    from selector.manifests import ManifestError, load_manifests

    try:
        return load_manifests(documents).findings
    except ManifestError as error:
        return error.findings


def _write_text(findings: Sequence[Finding]) -> None:
    for finding in findings:
        sys.stdout.write(f"{one_line(str(finding), _LINE_CAP)}\n")


def _write_json(findings: Sequence[Finding]) -> None:
    import dataclasses

    Output(as_json=True).data([dataclasses.asdict(finding) for finding in findings])


def _write_github(findings: Sequence[Finding]) -> None:
    for finding in findings:
        where = f"file={_escaped(finding.file, ':,')},line={finding.line},col={finding.column}"
        sys.stdout.write(f"::{finding.severity} {where}::{_escaped(one_line(finding.message, _LINE_CAP))}\n")


def _escaped(text: str, more: str = "") -> str:
    """For a workflow command: https://github.com/actions/toolkit, `packages/core/src/command.ts`."""
    return "".join(f"%{ord(char):02X}" if char in "%\r\n" + more else char for char in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_WRITERS: dict[Format, Callable[[Sequence[Finding]], None]] = {
    Format.TEXT: _write_text,
    Format.JSON: _write_json,
    Format.GITHUB: _write_github,
}
