"""`relay manifest migrate`: manifests that share their `global` section, and the plain ones compiled from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import DeviceOption, OptionalIdsOption
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.cli.manifests.collected import Collected
    from selector.manifests import ManifestDocument

_DEFAULTS = "x-defaults/"


def migrate(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="Manifests, or with --compile their sources.")],
    *,
    output: Annotated[Path, typer.Option("--output", metavar="FOLDER", help="Where the other form goes.")],
    compile_: Annotated[bool, typer.Option("--compile", help="Make plain manifests from sources.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="With --compile: write nothing; exit with 1 when --output is out of date.")
    ] = False,
    ids: OptionalIdsOption = None,
    device: DeviceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep `global` sections that several manifests share in one place, and compile plain manifests from that.

    Sources have `global: x-defaults: NAME` and the shared lines in x-defaults/NAME.yaml. What the tests resolve to is
    compared before anything is written.

    \b
    Examples:
      relay manifest migrate test_manifests --output manifest_sources
      relay manifest migrate --compile manifest_sources --output test_manifests
    """
    from relay.cli.manifests.collected import collected

    if check and not compile_:
        raise typer.BadParameter("--check goes with --compile", context, param_hint="--check")
    wanted = collected(ids, device)
    out = Output(as_json)
    if compile_:
        _compile(out, source, output, check=check)
    else:
        _factor(out, source, output, wanted)


def _factor(out: Output, source: Path, output: Path, wanted: Collected) -> None:
    from relay.cli.manifests.sources import documents_at, loaded, unusable
    from relay.cli.manifests.writing import NotWritten
    from selector.manifests import ManifestError
    from selector.manifests.authoring.migration import compile_source, digest, factor

    if output.exists() and any(output.iterdir()):
        raise NotWritten(text.folder_is_full(str(output)), text.folder_is_full_hint())
    documents = documents_at(str(source))
    try:
        made = factor(documents)
    except ManifestError as error:
        raise unusable(error) from error
    compiled = [compile_source(one, made.defaults) for one in made.sources]
    before, after = (digest(loaded(one), wanted.tests, device=wanted.device) for one in (documents, compiled))
    if before != after:
        raise NotWritten(text.digests_differ(before, after), text.digests_differ_hint())
    shared_files = [(f"{_DEFAULTS}{name}.yaml", body) for name, body in made.defaults.items()]
    _write(output, [*((one.name, one.text) for one in made.sources), *shared_files])
    lines = sum(_lines(one.text) for one in documents)
    left = sum(_lines(one.text) for one in made.sources) + sum(map(_lines, made.defaults.values()))
    if out.as_json:
        shared = {"defaults": len(made.defaults), "lines_before": lines, "lines_after": left}
        out.data({"manifests": len(documents), **shared, "digest": before, "notes": list(made.notes)})
    for note in made.notes:
        out.note(one_line(note))
    out.note(text.factored(len(documents), len(made.defaults), lines, left, before))


def _compile(out: Output, source: Path, output: Path, *, check: bool) -> None:
    from relay.cli.manifests.folder import BadManifests
    from relay.cli.manifests.sources import documents_at, unusable
    from selector.manifests import ManifestError
    from selector.manifests.authoring.migration import MigrationError, compile_source

    found = documents_at(str(source))
    defaults = {
        one.name.removeprefix(_DEFAULTS).removesuffix(".yaml"): one.text
        for one in found
        if one.name.startswith(_DEFAULTS)
    }
    try:
        compiled = [compile_source(one, defaults) for one in found if not one.name.startswith(_DEFAULTS)]
    except MigrationError as error:
        raise BadManifests(str(error), text.compile_hint()) from error
    except ManifestError as error:
        raise unusable(error) from error
    present = {one.name: one.text for one in documents_at(str(output))} if any(output.glob("**/*.yaml")) else {}
    changed = [one for one in compiled if present.get(one.name) != one.text]
    extra = sorted(set(present) - {one.name for one in compiled})
    if not check:
        _write(output, [(one.name, one.text) for one in changed])
    _report(out, changed, extra, len(compiled), written=not check)
    if check and (changed or extra):
        raise typer.Exit(ExitCode.FAILED)


def _report(
    out: Output, changed: Sequence[ManifestDocument], extra: Sequence[str], count: int, *, written: bool
) -> None:
    names = [one.name for one in changed]
    if out.as_json:
        out.data({"manifests": count, "changed": names, "without_source": list(extra), "written": written})
    for name in names:
        out.say(one_line(name))
    for name in extra:
        out.note(text.without_source(one_line(name)))
    out.note(text.compiled(count, len(names), written=written))


def _write(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    from relay.cli.manifests.writing import write_file

    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)


def _lines(content: str) -> int:
    return len(content.splitlines())
