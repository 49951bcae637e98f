"""`relay manifest resolve`: what manifests say about every collected test, as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.exits import ExitCode
from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import (
    DeviceOption,
    IdsOption,
    ManifestsArgument,
    PlatformOption,
    ProfileName,
    ProfileOption,
    TestTypeOption,
)
from relay.cli.options import JsonOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.cli.manifests.collected import Collected
    from selector.manifests import ManifestDocument, ManifestError, ManifestSet, Profile
    from selector.manifests.merge import Merged
    from selector.manifests.resolution import Resolution
    from selector.types import CollectedTest

_LINE_CAP = 2_000


def resolve(
    paths: ManifestsArgument = None,
    *,
    ids: IdsOption,
    profile: ProfileOption = ProfileName.COMPAT,
    merge: Annotated[
        bool | None,
        typer.Option("--merge/--no-merge", help="Merge manifests into one first [default: several files, no folders]."),
    ] = None,
    device: DeviceOption = None,
    test_type: TestTypeOption = "",
    platform: PlatformOption = "",
    enforce_expiry: Annotated[
        bool, typer.Option("--enforce-expiry", help="With strict: let entries that have expired excuse nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Resolve collected tests against manifests: the mode of each, the rule that decided, and where it is written.

    Several files are merged first, as the framework does with them; a folder is a set as the service uses it, in
    which the first manifest by name rules a file. With --json an object: id -> mode, reason (the rule), entry, tags,
    provenance and more. Exit code 1 when a manifest does not load.

    Base name, operator and dtype of a plain id are read out of it, which names make uncertain: the base is the longest
    listed name that the id can be a variant of.

    \b
    Examples:
      relay manifest resolve ops.yaml --ids ids.json --json
      relay manifest resolve first.yaml second.yaml --ids ids.json --profile strict --test-type trunk
    """
    from relay.cli.manifests.collected import collected
    from relay.cli.manifests.sources import named_documents
    from selector.manifests import ManifestError, Profile
    from selector.manifests import resolve as resolve_tests

    wanted = collected(ids, device)
    documents = named_documents(paths)
    reading = Profile(profile.value)
    out = Output(as_json)
    try:
        manifests, merged = _loaded(documents, reading, _is_merge(paths) if merge is None else merge)
    except ManifestError as error:
        _write_errors(out, error)
        raise typer.Exit(ExitCode.FAILED) from error
    overdue = _today() if enforce_expiry else None
    table = resolve_tests(
        manifests,
        _described(wanted, manifests),
        profile=reading,
        device=wanted.device,
        test_type=test_type,
        platform=platform,
        overdue=overdue,
    )
    rows = [replace(row, provenance=merged.origin(row.provenance)) for row in table.rows] if merged else table.rows
    _write(out, rows)
    for conflict in merged.conflicts if merged else ():
        out.note(one_line(f"warning: {conflict}", _LINE_CAP))
    if wanted.plain:
        out.note(text.plain_ids(len(wanted.plain)))
    out.note(text.resolved(Counter(row.mode.value for row in rows), table.digest))


def _is_merge(paths: Sequence[Path] | None) -> bool:
    return len(paths or ()) > 1 and not any(path.is_dir() for path in paths or ())


def _today() -> date:
    return datetime.now(UTC).date()


def _loaded(
    documents: Sequence[ManifestDocument], profile: Profile, merging: bool
) -> tuple[ManifestSet, Merged | None]:
    """Raises ManifestError; of merged manifests with the places before the merge, where these are at fault."""
    from selector.manifests import ManifestError, load_manifests
    from selector.manifests.merge import merge

    if not merging:
        return load_manifests(documents, profile=profile), None
    merged = merge(documents)
    try:
        return load_manifests([merged.document], profile=profile), merged
    except ManifestError:
        for document in documents:
            load_manifests([document], profile=profile)
        raise


def _described(wanted: Collected, manifests: ManifestSet) -> list[CollectedTest]:
    """The tests, those known by their id alone as well as the listed names let us know them."""
    from selector.manifests.explaining.explain import guess_test

    return [guess_test(test.id, manifests, wanted.device) if test.id in wanted.plain else test for test in wanted.tests]


def _write(out: Output, rows: Sequence[Resolution]) -> None:
    if out.as_json:
        out.data({row.id: _row_data(row) for row in rows})
    out.table(
        ["TEST", "MODE", "REASON", "DECIDED AT", "TAGS"],
        (
            [one_line(cell) for cell in (row.id, row.mode, row.rule, row.provenance, ", ".join(row.tags))]
            for row in rows
        ),
    )


def _row_data(row: Resolution) -> dict[str, object]:
    """`reason` is the rule, in the words of the specification; what the entry says to people is in `remarks`."""
    expires = row.expires.isoformat() if row.expires else None
    return {
        "mode": row.mode.value,
        "reason": row.rule,
        "entry": row.entry,
        "tags": row.tags,
        "provenance": row.provenance,
        "tolerance": None if row.tolerance is None else {"atol": row.tolerance.atol, "rtol": row.tolerance.rtol},
        "isolate": row.isolate,
        "timeout_s": row.timeout_s,
        "remarks": {"reason": row.reason, "issue": row.issue, "owner": row.owner, "expires": expires},
    }


def _write_errors(out: Output, error: ManifestError) -> None:
    """As `check` writes findings, so that one of both can be read by the same program."""
    if out.as_json:
        out.data([asdict(finding) for finding in error.errors])
    for finding in error.errors:
        out.note(one_line(str(finding), _LINE_CAP))
