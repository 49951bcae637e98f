"""`relay manifest diff`: what a change of manifests does to the tests of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import (
    DeviceOption,
    IdsOption,
    PlatformOption,
    ProfileName,
    ProfileOption,
    TestTypeOption,
)
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from selector.manifests.comparing.difference import Change, Difference
    from selector.manifests.resolution import Resolution

_SHOWN_IDS = 5


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="Manifest file or folder, or REV:PATH of this checkout.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The same, after the change.")],
    *,
    ids: IdsOption,
    profile: ProfileOption = ProfileName.COMPAT,
    device: DeviceOption = None,
    test_type: TestTypeOption = "",
    platform: PlatformOption = "",
    exit_status: Annotated[bool, typer.Option("--exit-status", help="Exit with 5 when there is a difference.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show which tests two states of the manifests treat differently. Texts are not compared.

    The exit code is 0 when it worked, whatever was found.

    \b
    Examples:
      relay manifest diff main:test_manifests test_manifests --ids ids.json
      relay manifest diff old.yaml new.yaml --ids ids.json --profile strict --exit-status
    """
    from relay.cli.manifests.collected import collected
    from relay.cli.manifests.sources import documents_at, loaded
    from selector.manifests import Profile, resolve
    from selector.manifests.comparing.difference import difference

    wanted = collected(ids, device)
    old, new = (
        resolve(
            loaded(documents_at(source), Profile(profile)),
            wanted.tests,
            profile=Profile(profile),
            device=wanted.device,
            test_type=test_type,
            platform=platform,
        )
        for source in (before, after)
    )
    found = difference(old, new)
    _write(Output(as_json), found)
    if exit_status and found.changes:
        raise typer.Exit(ExitCode.RED)


def _write(out: Output, found: Difference) -> None:
    from selector.manifests.comparing.difference import Effect

    counts = {effect.value: found.count(effect) for effect in Effect}
    if out.as_json:
        out.data({"unchanged": found.unchanged, **counts, "changes": [_as_data(change) for change in found.changes]})
    for change in found.changes:
        for line in _lines(change):
            out.say(one_line(line) if not line.startswith(" ") else f"    {one_line(line)}")
    out.note(text.difference_summary(counts, found.unchanged))


def _lines(change: Change) -> Iterator[str]:
    before, after = (_side(change, row) for row in (change.before, change.after))
    yield f"{text.changed(change.effect, len(change.ids))}: {before} -> {after}"
    for test_id in change.ids[:_SHOWN_IDS]:
        yield f"  {test_id}"
    if (rest := len(change.ids) - _SHOWN_IDS) > 0:
        yield f"  {text.and_more(rest)}"


def _side(change: Change, row: Resolution) -> str:
    """One side of a change, with what the effect is about."""
    from selector.manifests.comparing.difference import Effect

    shown = f"{row.mode} ({', '.join(part for part in (row.rule, row.provenance) if part)})"
    if change.effect is Effect.TAGS:
        return f"{shown} tags {', '.join(row.tags) or 'none'}"
    return f"{shown} {text.tolerance(row.tolerance)}" if change.effect is Effect.TOLERANCE else shown


def _as_data(change: Change) -> dict[str, object]:
    from relay.cli.manifests.rows import row_data

    sides = {name: row_data(row) for name, row in (("before", change.before), ("after", change.after))}
    return {"effect": change.effect.value, "tests": len(change.ids), **sides, "ids": list(change.ids)}
