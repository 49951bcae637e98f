"""`relay manifest promote`: change expectations that the results have long contradicted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.manifests import text
from relay.cli.manifests.resolve_options import ManifestsArgument
from relay.cli.manifests.result_options import DeviceOption, FromOption, FromRunOption, IssueOption, UpstreamOption
from relay.cli.manifests.unified import unified
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from selector.manifests import ManifestDocument
    from selector.manifests.authoring.promotion import Held, Proposal, Rewritten
    from selector.manifests.authoring.results import ObservedTest

_LINE_CAP = 2_000


def promote(
    context: typer.Context,
    paths: ManifestsArgument = None,
    *,
    sources: FromOption = None,
    from_runs: FromRunOption = None,
    runs: Annotated[int, typer.Option(min=1, help="So many newest runs have to have passed,")] = 10,
    days: Annotated[int, typer.Option(min=1, help="on so many different days (UTC),")] = 3,
    machines: Annotated[int, typer.Option(min=1, help="on so many different machines.")] = 2,
    demote: Annotated[
        bool, typer.Option("--demote", help="Excuse required tests that keep failing, too; needs --issue.")
    ] = False,
    failures: Annotated[int, typer.Option(min=1, help="With --demote: so many newest runs have to have failed.")] = 3,
    issue: IssueOption = "",
    write: Annotated[bool, typer.Option("--write", help="Change the manifests instead of showing a diff.")] = False,
    upstream: UpstreamOption = None,
    device: DeviceOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Require what is expected to fail and has long passed; with --demote, excuse what is required and keeps failing.

    The diff goes to stdout, the evidence to stderr. Results without a date do not count.

    \b
    Examples:
      relay manifest promote --from nightly/ --upstream ~/pytorch
      relay manifest promote --from nightly/ --demote --issue pytorch/pytorch#123 --write
    """
    from relay.cli.manifests.observed import observed
    from relay.cli.manifests.sources import loaded, named_documents
    from relay.cli.manifests.writing import write_file
    from selector.manifests.authoring.promotion import propose
    from selector.manifests.authoring.streaks import Policy

    if demote and not issue:
        raise typer.BadParameter("a demotion needs the issue that is to end it", context, param_hint="--issue")
    documents = named_documents(paths)
    manifests = loaded(documents)
    seen = observed(sources, from_runs, device=device, upstream=upstream, url=url)
    policy = Policy(runs, days, machines, failures)
    made, held = propose(seen.tests, manifests, device=seen.device, policy=policy, demote=demote)
    changed = _changed(documents, made, seen.tests, seen.device, issue)
    if write:
        for _, rewritten in changed:
            write_file(Path(rewritten.document.name), rewritten.document.text)
    _report(Output(as_json), changed, held, undated=sum(one.at is None for one in seen.tests), written=write)


def _changed(
    documents: Sequence[ManifestDocument],
    made: Sequence[Proposal],
    observed: Sequence[ObservedTest],
    device: str,
    issue: str,
) -> list[tuple[ManifestDocument, Rewritten]]:
    from relay.cli.manifests.sources import unusable
    from selector.manifests import ManifestError
    from selector.manifests.authoring.promotion import rewrite

    named = {one.manifest for one in made}
    touched = [document for document in documents if document.name in named]
    try:
        return [(document, rewrite(document, made, observed, device=device, issue=issue)) for document in touched]
    except ManifestError as error:
        raise unusable(error) from error


def _report(
    out: Output,
    changed: Sequence[tuple[ManifestDocument, Rewritten]],
    held: Sequence[Held],
    *,
    undated: int,
    written: bool,
) -> None:
    made = [one for _, rewritten in changed for one in rewritten.made]
    waiting = [*(one for _, rewritten in changed for one in rewritten.refused), *held]
    notes = [note for _, rewritten in changed for note in rewritten.notes]
    diff = "".join(line for before, rewritten in changed for line in unified(before, rewritten.document))
    if out.as_json:
        out.data({"proposals": [_as_data(one) for one in made], "waiting": [_held(one) for one in waiting],
                  "notes": notes, "diff": diff, "written": written})  # fmt: skip  # one object, read as one
    elif diff and not written:
        out.say(diff.removesuffix("\n"))
    for line in [*made, *waiting, *notes]:
        out.note(one_line(str(line), _LINE_CAP))
    if undated:
        out.note(text.undated(undated))
    out.note(text.promoted(len(made), len(waiting), written=written))


def _as_data(one: Proposal) -> dict[str, object]:
    shown = one.evidence
    evidence = {"runs": shown.runs, "days": shown.days, "machines": list(shown.machines)}
    span = {"first": shown.first.isoformat(), "last": shown.last.isoformat()}
    where = {"file": one.file, "base": one.base, "provenance": one.provenance, "ids": list(one.ids)}
    return {"direction": one.direction.value, **where, "evidence": {**evidence, **span}}


def _held(one: Held) -> dict[str, object]:
    return {"file": one.file, "base": one.base, "provenance": one.provenance, "why": one.why}
