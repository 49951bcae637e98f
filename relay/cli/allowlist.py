"""`relay allowlist ...`: check a list before it is merged, and see the one that the relay goes by."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import allowlist_text as text
from relay.cli.exits import ExitCode
from relay.cli.manifests.layout import LINE_CAP, Format, FormatOption, annotation
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line
from relay.failures import Failure

if TYPE_CHECKING:
    from relay.allowlist.findings import Finding
    from relay.allowlist.types import Backend, LoadedAllowlist
    from relay.settings import RelaySettings

app = typer.Typer(no_args_is_help=True, help="The list of backends that take part: check it, show the one in force.")

_STANDARD_INPUT = "-"
_READ_CAP = 4 * 1024 * 1024


class UnreadableList(Failure):
    """A file to check cannot be read."""

    code = "unreadable_list"


class NoAllowlist(Failure):
    """There is no allowlist in force that could be shown."""

    code = "no_allowlist"


@app.callback()
def allowlist() -> None:
    """The list of backends that take part: check it, show the one in force."""


@app.command("check")
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Lists to check; - is standard input.")],
    *,
    providers: Annotated[
        bool, typer.Option("--providers", help="They are lists of CI providers (RELAY_CI_PROVIDERS_URL) instead.")
    ] = False,
    layout: FormatOption = Format.TEXT,
    as_json: JsonOption = False,
) -> None:
    """Check lists: exit code 1 when there is an error, 0 when there are none or only warnings.

    \b
    Examples:
      relay allowlist check .github/allowlist.yml
      relay allowlist check .github/allowlist.yml --format github
      relay allowlist check --providers ci_providers.yml
    """
    found = [(name, finding) for name in dict.fromkeys(files) for finding in _findings(name, providers=providers)]
    _write(found, Format.JSON if as_json else layout)
    errors = sum(finding.severity == "error" for _, finding in found)
    sys.stderr.write(f"{text.counts(len(set(files)), errors, len(found) - errors)}\n")
    if errors:
        raise typer.Exit(ExitCode.FAILED)


def _findings(name: str, *, providers: bool) -> tuple[Finding, ...]:
    from relay.allowlist.grammar import read_allowlist
    from relay.allowlist.providers import read_providers

    content = _content(name)
    return (read_providers(content) if providers else read_allowlist(content)).findings


def _content(name: str) -> str:
    """The text; a larger one is cut and bytes that are no UTF-8 stay visible, so that the grammar refuses both."""
    try:
        if name == _STANDARD_INPUT:
            content = sys.stdin.buffer.read(_READ_CAP)
        else:
            with Path(name).open("rb") as stream:
                content = stream.read(_READ_CAP)
    except OSError as error:
        raise UnreadableList(text.unreadable(name, error.strerror or str(error)), text.unreadable_hint()) from error
    return content.decode("utf-8-sig", errors="surrogateescape")


def _write(found: Iterable[tuple[str, Finding]], layout: Format) -> None:
    if layout is Format.JSON:
        from dataclasses import asdict

        Output(as_json=True).data([{"file": name, **asdict(finding)} for name, finding in found])
        return
    for name, finding in found:
        place = (name, finding.line, finding.column)
        line = annotation(finding.severity, place, "allowlist", finding.message)
        shown = line if layout is Format.GITHUB else one_line(f"{name}:{finding}", LINE_CAP)
        sys.stdout.write(f"{shown}\n")


@app.command("show")
def show(as_json: JsonOption = False) -> None:
    """Show the list that the relay goes by, as its record has it.

    \b
    Examples:
      relay allowlist show
      relay allowlist show --json
    """
    from relay.cli.connect import load_settings

    loaded = _kept(load_settings())
    out = Output(as_json)
    if as_json:
        rows = [_as_data(backend) for backend in loaded.allowlist.backends]
        out.data({"read_at": loaded.read_at.isoformat(), "problem": loaded.problem, "backends": rows})
        return
    out.table(("LEVEL", "BACKEND", "DEVICE", "EVENTS", "ON CALL"), map(_row, loaded.allowlist.backends))
    out.note(text.summary(len(loaded.allowlist.backends), out.when(loaded.read_at)))
    if loaded.problem:
        out.note(text.old_one(one_line(loaded.problem)))


def _kept(settings: RelaySettings) -> LoadedAllowlist:
    from datetime import UTC, datetime

    from sqlalchemy.exc import SQLAlchemyError

    from relay.allowlist.fetching import TextSource
    from relay.allowlist.source import RemoteAllowlist
    from relay.allowlist.types import AllowlistUnavailableError
    from relay.cli import text as common
    from relay.store.engine import Store, open_engine

    if not settings.allowlist_url:
        raise NoAllowlist(text.no_address(), text.no_address_hint())
    _demand_record(settings.database_url)
    engine = open_engine(settings.database_url)
    try:
        source = RemoteAllowlist(
            settings.allowlist_url,
            store=Store(engine),
            fetch=TextSource().fetch,
            now=lambda: datetime.now(UTC),
            web_url=settings.github_web_url,
        )
        return source.kept()
    except AllowlistUnavailableError as error:
        raise NoAllowlist(str(error), text.not_read_hint()) from error
    except SQLAlchemyError as error:
        raise NoAllowlist(text.unreadable_record(type(error).__name__), common.database_hint()) from error
    finally:
        engine.dispose()


def _demand_record(database_url: str) -> None:
    """Looking must not make the file that is looked for."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    from relay.cli import text as common

    try:
        url = make_url(database_url)
    except ArgumentError:  # its words quote the URL, and with it the password
        raise NoAllowlist(common.unreadable_database_url(), common.database_hint()) from None
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        raise NoAllowlist(text.no_record(url.render_as_string(hide_password=True)), text.not_read_hint())


def _row(backend: Backend) -> tuple[str, ...]:
    events = " ".join(sorted(backend.events))
    return backend.level.name, backend.repo, backend.device or "", events, " ".join(backend.oncalls)


def _as_data(backend: Backend) -> dict[str, object]:
    return {
        "level": backend.level.name,
        "repo": backend.repo,
        "device": backend.device,
        "events": sorted(backend.events),
        "oncalls": list(backend.oncalls),
        "line": backend.line,
    }
