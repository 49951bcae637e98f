"""`relay manifest`: work on the YAML manifests without a running service.

`check` prints one line for each finding, in the form that editors and CI jump from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from selector.manifests import Finding, ManifestDocument

app = typer.Typer(no_args_is_help=True, help="Check the YAML manifests that say which tests run on the device.")


@app.callback()
def manifest() -> None:
    """Check the YAML manifests that say which tests run on the device."""


class Format(StrEnum):
    """How findings are printed; `github` makes annotations of a workflow run."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


@app.command()
def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Manifest files or folders. Default: the relay's manifest folder."),
    ] = None,
    output: Annotated[Format, typer.Option("--format", help="How findings are printed.")] = Format.TEXT,
) -> None:
    """Check manifests; exit 1 when there is an error, 0 when there are none or only warnings.

    \b
    Examples:
      relay manifest check
      relay manifest check test_manifests/demo --format github
    """
    documents = _documents(paths or [_default_folder()])
    findings = _findings(documents)
    errors = sum(finding.severity == "error" for finding in findings)
    _PRINTERS[output](findings)
    warnings = len(findings) - errors
    sys.stderr.write(
        f"{_count(len(documents), 'manifest')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}\n"
    )
    if errors:
        raise typer.Exit(1)


def _default_folder() -> Path:
    from relay.settings import RelaySettings

    folder = RelaySettings().manifest_dir
    # Shorter, and what editors and GitHub want to see, when the folder is below the working directory.
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _documents(paths: Sequence[Path]) -> list[ManifestDocument]:
    from relay.manifests import ManifestFolderError, manifest_files, read_manifest

    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            _usage(f"there is no file or folder {path}", "name a manifest or a folder of manifests")
        found = manifest_files(path) if path.is_dir() else [path]
        if not found:
            _usage(f"the folder {path} holds no *.yaml file", "name a manifest or a folder of manifests")
        files.update(dict.fromkeys(found))
    try:
        return [read_manifest(file, file.as_posix()) for file in files]
    except ManifestFolderError as error:
        _usage(str(error), "make it readable, or leave it out")


def _usage(message: str, hint: str) -> NoReturn:
    sys.stderr.write(f"error: {message}\nhint: {hint}\n")
    raise typer.Exit(2)


def _findings(documents: Sequence[ManifestDocument]) -> tuple[Finding, ...]:
    from selector.manifests import ManifestError, load_manifests

    try:
        return load_manifests(documents).findings
    except ManifestError as error:
        return error.findings


def _print_text(findings: Sequence[Finding]) -> None:
    for finding in findings:
        sys.stdout.write(f"{finding}\n")


def _print_json(findings: Sequence[Finding]) -> None:
    import dataclasses
    import json

    sys.stdout.write(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=2) + "\n")


def _print_github(findings: Sequence[Finding]) -> None:
    for finding in findings:
        where = f"file={_escaped(finding.file, ':,')},line={finding.line},col={finding.column}"
        sys.stdout.write(f"::{finding.severity} {where}::{_escaped(finding.message)}\n")


def _escaped(text: str, more: str = "") -> str:
    """For a workflow command: https://github.com/actions/toolkit, `packages/core/src/command.ts`."""
    return "".join(f"%{ord(char):02X}" if char in "%\r\n" + more else char for char in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_PRINTERS: dict[Format, Callable[[Sequence[Finding]], None]] = {
    Format.TEXT: _print_text,
    Format.JSON: _print_json,
    Format.GITHUB: _print_github,
}
