"""`relay manifest generate`: a manifest from what was observed on the device."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.manifests import text
from relay.cli.manifests.result_options import DeviceOption, FromOption, RunOption, UpstreamOption
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output, one_line

_LINE_CAP = 2_000


def generate(
    *,
    sources: FromOption = None,
    runs: RunOption = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", metavar="TEST_FILE", help="Only these, for example test/test_ops.py.")
    ] = None,
    upstream: UpstreamOption = None,
    issue: Annotated[str, typer.Option(metavar="LINK", help="Issue to put into every new entry with a reason.")] = "",
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

    \b
    Examples:
      relay manifest generate --from junit/ --upstream ~/pytorch --output test_manifests/ops.yaml
      relay manifest generate --run 12 --file test/test_ops.py
    """
    from relay.cli.manifests.observed import BadResults, observed
    from selector.manifests.generation import generate as generate_from

    if output is not None and output.exists():
        raise BadResults(text.file_is_there(str(output)), text.file_is_there_hint())
    wanted = observed(sources, runs, device=device, upstream=upstream, url=url)
    found = [one for one in wanted.tests if not files or one.file in files]
    if not found:
        raise BadResults(text.no_results(), text.results_hint())
    made = generate_from(found, device=wanted.device, issue=issue, labels=labels or ())
    out = Output(as_json)
    if output is not None:
        output.write_text(made.text, encoding="utf-8")
    if as_json:
        out.data({"manifest": made.text, "entries": made.entries, "notes": list(made.notes)})
    elif output is None:
        out.say(made.text.rstrip("\n"))
    for note in made.notes:
        out.note(one_line(note, _LINE_CAP))
    if guessed := len({one.id for one in found if not one.base_known}):
        out.note(text.guessed_bases(guessed))
    out.note(text.generated(len({one.id for one in found}), len({one.file for one in found}), made.entries))
