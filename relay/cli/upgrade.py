"""`relay upgrade`: what a new release of upstream means for a device, without a service. Nothing of it is executed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.change_options import ManifestsOption, NoManifestsOption
from relay.cli.options import JsonOption, UrlOption
from relay.cli.output import Output


def _kind_is_known(names: list[str]) -> list[str]:
    from relay.cli import upgrade_text
    from relay.cli.upgrade_files import KINDS

    for name in names:
        if Path(name).suffix.lower() not in KINDS:
            raise typer.BadParameter(upgrade_text.unknown_kind(name))
    return names


def upgrade(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="With --json: write it to this file instead of to stdout.")
    ] = None,
    *,
    base: Annotated[
        str, typer.Option("--from", metavar="TREE", help="The release in use: a folder, a revision, a wheel.")
    ],
    head: Annotated[str, typer.Option("--to", metavar="TREE", help="The release to go to.")],
    repo: Annotated[Path, typer.Option(metavar="CLONE", help="The clone whose revisions are meant.")] = Path(),
    manifests: ManifestsOption = None,
    no_manifests: NoManifestsOption = False,
    device: Annotated[
        str | None, typer.Option(metavar="WORD", help="The device's word in generated names [default: RELAY_DEVICE].")
    ] = None,
    results: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="BASE HEAD", help="Results on both releases: JUnit files, saved tests of a run, folders."),
    ] = None,
    reports: Annotated[
        list[str] | None,
        typer.Option(
            "--out",
            metavar="FILE",
            callback=lambda names: _kind_is_known(names or []),
            help="Write the report: .html, .md for an issue, or .json. Repeat for more.",
        ),
    ] = None,
    patch: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write proposed edits of the manifests as one patch.")
    ] = None,
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Let the configured model describe the areas with most to assess.")
    ] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Keep the report on the relay, for everybody to read.")
    ] = False,
    run: Annotated[
        bool,
        typer.Option(
            "--run", help="Publish it, have the tests to assess run on both releases, and say what the upgrade breaks."
        ),
    ] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two releases of upstream, and say which tests of the device have to be looked at, and why.

    A TREE is a folder, a revision of the clone, or wheel:VERSION or wheel:PATH, of which only operators are compared.
    Nothing of them is executed. Exit code 0 also when there is nothing to look at.

    \b
    Examples:
      relay upgrade --repo ~/pytorch --from v2.13.0 --to v2.14.0
      relay upgrade --from ~/pytorch-2.13 --to ~/pytorch-2.14 --out report.html --out issue.md
      relay upgrade --from v2.13.0 --to v2.14.0 --results old.xml new.xml --out report.html
      relay upgrade --from v2.13.0 --to v2.14.0 --patch manifests.patch
      relay upgrade --from v2.13.0 --to v2.14.0 --run
      relay upgrade --from wheel:2.13.0 --to torch-2.14.1-cp311-cp311-linux_x86_64.whl
    """
    from relay.cli import upgrade_text
    from relay.cli.connect import open_operator_client
    from relay.cli.upgrade_files import check_folders, write_all
    from relay.cli.upgrade_page import show_report
    from relay.cli.upgrade_run import publish as published
    from relay.cli.upgrade_run import run_on_both
    from relay.cli.upgrading import Wanted, make_report

    if run and results:
        raise typer.BadParameter(upgrade_text.results_and_run(), param_hint="--run")
    if file and not as_json:
        raise typer.BadParameter(upgrade_text.file_without_json(), param_hint="FILE")
    if patch and no_manifests:
        raise typer.BadParameter(upgrade_text.patch_without_manifests(), param_hint="--patch")
    files = [*(reports or []), *([file] if file else [])]
    check_folders([*files, *([patch] if patch else [])])
    out = Output(as_json and not file)
    client = open_operator_client(url) if publish or run else None
    made = make_report(
        Wanted(
            *(base, head, repo),
            manifests=manifests,
            no_manifests=no_manifests,
            device=device,
            results=results,
            summaries=summaries,
            patch=patch is not None,
        ),
        out,
    )
    if client is not None:
        with client:
            kept = published(client, out, made)
            made = run_on_both(client, out, made, kept) if run else made
    show_report(out, made.report)
    write_all(out, made, files, patch)
