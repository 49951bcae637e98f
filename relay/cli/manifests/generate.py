"""`relay manifest generate`: a manifest from what was observed on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.manifests import text
from relay.cli.manifests.result_options import DeviceOption, FromOption, FromRunOption, IssueOption, UpstreamOption
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from selector.manifests.authoring.generation import Generated
    from selector.manifests.authoring.results import ObservedTest

_LINE_CAP = 2_000


def generate(
    *,
    sources: FromOption = None,
    from_runs: FromRunOption = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", metavar="TEST_FILE", help="Only these, for example test/test_ops.py.")
    ] = None,
    existing: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Extend this one instead of making a new one.")
    ] = None,
    upstream: UpstreamOption = None,
    issue: IssueOption = "",
    labels: Annotated[
        list[str] | None, typer.Option("--label", help="Suite label of a new manifest; repeat for more.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write it there instead of to stdout.")] = None,
    device: DeviceOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a manifest that expects what results show: what fails is expected to fail, what crashes is not run.

    Tests that work are not listed; everything unlisted is required. What a manifest can not express is said on stderr.
    With --existing only what the results contradict is changed, and nothing becomes required that was expected to fail.

    \b
    Examples:
      relay manifest generate --from junit/ --upstream ~/pytorch --output test_manifests/ops.yaml
      relay manifest generate --from-run 12 --file test/test_ops.py
      relay manifest generate --from-run 12 --existing ops.yaml --output ops.yaml
    """
    from relay.cli.manifests.observed import BadResults, observed
    from relay.cli.manifests.writing import write_file

    if output is not None and output.exists() and not (existing is not None and output.samefile(existing)):
        raise BadResults(text.file_is_there(str(output)), text.file_is_there_hint())
    wanted = observed(sources, from_runs, device=device, upstream=upstream, url=url)
    found = [one for one in wanted.tests if not files or one.file in files]
    if not found:
        raise BadResults(text.no_results(), text.results_hint())
    made = _made(existing, found, wanted.device, issue, labels or ())
    out = Output(as_json)
    if output is not None:
        write_file(output, made.text)
    if as_json:
        out.data({"manifest": made.text, "entries": made.entries, "notes": list(made.notes)})
    elif output is None:
        out.say(made.text.removesuffix("\n"))
    for note in made.notes:
        out.note(one_line(note, _LINE_CAP))
    if guessed := len({one.id for one in found if not one.base_known}):
        out.note(text.guessed_bases(guessed))
    out.note(text.generated(len({one.id for one in found}), len({one.file for one in found}), made.entries))


def _made(
    existing: Path | None, found: Sequence[ObservedTest], device: str, issue: str, labels: Sequence[str]
) -> Generated:
    from relay.cli.manifests.folder import BadManifests
    from relay.cli.manifests.observed import BadResults
    from relay.cli.manifests.sources import named_documents, unusable
    from selector.manifests import ManifestError
    from selector.manifests.authoring.extension import extend
    from selector.manifests.authoring.generation import generate as generate_from
    from selector.manifests.authoring.results import ResultsError
    from selector.manifests.authoring.splicing import SpliceError

    if existing is None:
        try:
            return generate_from(found, device=device, issue=issue, labels=labels)
        except ResultsError as error:
            raise BadResults(str(error), text.results_hint()) from error
    (document,) = named_documents([existing])
    try:
        return extend(document, found, device=device, issue=issue)
    except ManifestError as error:
        raise unusable(error) from error
    except SpliceError as error:
        raise BadManifests(str(error), text.write_by_hand_hint()) from error
