"""`relay manifest explain`: why the manifests say what they say about one test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import (
    DeviceOption,
    ManifestsArgument,
    OptionalIdsOption,
    PlatformOption,
    TestTypeOption,
)
from relay.cli.options import JsonOption
from relay.cli.output import Output, clean, one_line

if TYPE_CHECKING:
    from selector.manifests.explaining.explain import Explanation
    from selector.manifests.resolution import Trace


def explain(
    test_id: Annotated[str, typer.Argument(metavar="TEST_ID", help="A collected test: file::Class::method.")],
    paths: ManifestsArgument = None,
    *,
    ids: OptionalIdsOption = None,
    upstream: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Upstream checkout; tells the base name of a bare id.")
    ] = None,
    device: DeviceOption = None,
    test_type: TestTypeOption = "",
    platform: PlatformOption = "",
    as_json: JsonOption = False,
) -> None:
    """Explain what the manifests expect of a test: the entries that fit, why one counts, every check, both profiles,
    and what the author probably meant when these differ.

    Without --ids the base name, operator and dtype are read out of the id; --upstream makes the base name certain.

    \b
    Examples:
      relay manifest explain test/test_ops.py::TestCommonSPYRE::test_out_add_spyre_float32 --ids ids.json
      relay manifest explain test/test_torch.py::TestTorchSPYRE::test_storage_spyre my.yaml --test-type trunk
    """
    from relay.cli.manifests.collected import collected
    from relay.cli.manifests.sources import loaded, named_documents
    from relay.cli.manifests.upstream import upstream_tree
    from relay.failures import Failure
    from selector.manifests.authoring.results import names_in, no_source_names
    from selector.manifests.explaining.explain import UnknownTestError, find_test, guess_test
    from selector.manifests.explaining.explain import explain as explain_test

    wanted = collected(ids, device)
    manifests = loaded(named_documents(paths))
    try:
        if ids is not None:
            test = find_test(test_id, wanted.tests)
        else:
            names = no_source_names if upstream is None else names_in(upstream_tree(upstream, None))
            test = guess_test(test_id, manifests, wanted.device, names)
    except UnknownTestError as error:
        raise Failure(str(error), text.did_you_mean_one_of(error.near), code="unknown_test") from error
    found = explain_test(
        manifests,
        test,
        device=wanted.device,
        test_type=test_type,
        platform=platform,
        tests=wanted.tests,
        guessed=ids is None,
    )
    out = Output(as_json)
    if as_json:
        out.data(_as_data(found))
    else:
        _write(out, found)


def _write(out: Output, found: Explanation) -> None:
    out.say(one_line(found.test.id))
    _table(out, _both(found.compat, found.strict))
    for title, rows in ((text.candidates, _candidates), (text.checks, _checks)):
        compat, strict = list(rows(found.compat)), list(rows(found.strict))
        _section(out, title("compat"), compat)
        _section(out, title("strict"), [(text.same_as("compat"),)] if strict == compat else strict)
    if found.traps:
        _section(out, text.to_know(), [(f"- {clean(trap.sentence)}",) for trap in found.traps])
    if found.meant:
        _section(out, text.what_was_meant(), [(clean(found.meant),)])
    if found.guessed:
        out.note(text.guessed_test(found.test.base, found.compat.op, found.compat.dtype))


def _section(out: Output, title: str, rows: Sequence[tuple[str, ...]]) -> None:
    out.say()
    out.say(title)
    _table(out, rows)


def _table(out: Output, rows: Sequence[tuple[str, ...]]) -> None:
    # Named columns, if only by nothing, are folded where they are too wide; others would be cut.
    out.table([""] * max(map(len, rows)), rows)


def _both(compat: Trace, strict: Trace) -> list[tuple[str, str, str]]:
    """The facts side by side, without those that there are on neither side."""
    pairs = zip(_facts(compat), _facts(strict), strict=True)
    both = [(name, one_line(left), one_line(right)) for (name, left), (_, right) in pairs]
    return [(name, left or "-", right or "-") for name, left, right in both if left or right]


def _facts(trace: Trace) -> list[tuple[str, str]]:
    row, chosen = trace.resolution, trace.chosen
    return [
        ("profile", trace.profile.value),
        ("mode", row.mode.value),
        ("rule", row.rule),
        ("decided at", row.provenance),
        ("entry", f"{chosen.name} ({chosen.provenance})" if chosen else ""),
        ("because", trace.why_chosen),
        ("operator", trace.op),
        ("dtype", trace.dtype),
        ("tags", ", ".join(row.tags)),
        ("tolerance", text.tolerance(row.tolerance)),
        ("reason", row.reason),
        ("issue", row.issue),
        ("owner", row.owner),
        ("expires", row.expires.isoformat() if row.expires else ""),
    ]


def _candidates(trace: Trace) -> Iterable[tuple[str, ...]]:
    if not trace.candidates:
        yield (trace.why_chosen,)
    for one in trace.candidates:
        dtypes = text.any_dtype() if one.dtypes is None else ", ".join(sorted(one.dtypes))
        fate = text.left_out(one.left_out) if one.left_out else text.chosen() if one == trace.chosen else "-"
        yield tuple(one_line(cell) for cell in (one.provenance, one.name, one.mode.value, dtypes, fate))


def _checks(trace: Trace) -> Iterable[tuple[str, ...]]:
    for check in trace.checks:
        yield text.hit(check.hit), check.name, one_line(check.value)


def _as_data(found: Explanation) -> dict[str, object]:
    import dataclasses

    return {
        "test": dataclasses.asdict(found.test),
        "guessed": found.guessed,
        **{trace.profile.value: _trace_data(trace) for trace in (found.compat, found.strict)},
        "traps": [dataclasses.asdict(trap) for trap in found.traps],
        "meant": found.meant,
    }


def _trace_data(trace: Trace) -> dict[str, object]:
    import dataclasses

    from relay.cli.manifests.rows import row_data

    candidates = [
        {**dataclasses.asdict(one), "dtypes": None if one.dtypes is None else sorted(one.dtypes)}
        for one in trace.candidates
    ]
    return {
        "op": trace.op,
        "dtype": trace.dtype,
        "candidates": candidates,
        "chosen": next((at for at, one in enumerate(trace.candidates) if one == trace.chosen), None),
        "why_chosen": trace.why_chosen,
        "checks": [dataclasses.asdict(check) for check in trace.checks],
        "resolution": row_data(trace.resolution),
    }
