"""Makes the report of `relay upgrade`: opens both trees, has them compared and judged, and adds results and paragraphs.

The selector decides; nothing here judges a test.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from relay.cli import upgrade_text
from relay.cli.connect import load_settings
from relay.cli.manifests.observed import BadResults, observed_in
from relay.cli.manifests.sources import documents_at, loaded
from relay.cli.model import budget_of, configured_model
from relay.cli.output import Output, one_line
from relay.cli.upgrade_trees import NoTree, Side, Sides, origin_of
from relay.cli.user_cache import user_catalog
from relay.failures import Failure
from relay.settings import RelaySettings
from relay.upgrade.releases import release_in
from selector.manifests.authoring.results import Naming, names_in
from selector.trees import TreeError
from selector.upgrade.assessing.patching import propose_patch
from selector.upgrade.outcomes import Results, compare_outcomes
from selector.upgrade.report import build_report
from selector.upgrade.summaries import Describing, summarise_areas
from selector.upgrade.types import UpgradeReport

if TYPE_CHECKING:
    from selector.manifests import ManifestDocument


class NoModel(Failure):
    """Paragraphs by a model were asked for, and there is none."""

    code = "no_model"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options of the command say."""

    base: str
    head: str
    repo: Path
    manifests: Path | None = None
    no_manifests: bool = False
    device: str | None = None
    results: tuple[Path, Path] | None = None
    summaries: bool = False
    patch: bool = False


@dataclass(frozen=True, slots=True)
class MadeReport:
    """The report, and the patch where one was asked for; empty when nothing is to be edited. `releases` are those that
    the trees say they are (`2.14`), empty where they say nothing."""

    report: UpgradeReport
    patch: str = ""
    releases: tuple[str, str] = ("", "")


def make_report(wanted: Wanted, out: Output) -> MadeReport:
    """The whole report. Raises `Failure` for trees, manifests, results and models that cannot be used."""
    settings = load_settings()
    if wanted.summaries and not settings.llm_configured:
        raise NoModel(upgrade_text.no_model(), upgrade_text.no_model_hint())
    with ExitStack() as stack:
        sides = Sides(wanted.repo, stack, out).both(wanted.base, wanted.head)
        folder = None if wanted.no_manifests else wanted.manifests or settings.manifest_dir
        documents = [] if folder is None else documents_at(str(folder))
        out.note(upgrade_text.comparing(*(one_line(side.name) for side in sides)))
        try:
            return _made(wanted, settings, documents, sides, out)
        except TreeError as error:
            raise NoTree(str(error), upgrade_text.no_tree_hint()) from error


def _made(
    wanted: Wanted, settings: RelaySettings, documents: list[ManifestDocument], sides: tuple[Side, Side], out: Output
) -> MadeReport:
    base, head = sides
    device = wanted.device or settings.device
    results = None if wanted.results is None else _results(wanted.results, sides, device)
    report = build_report(
        *(base.tree, head.tree),
        base_name=base.name,
        head_name=head.name,
        manifests=loaded(documents) if documents else None,
        device=device,
        cache=user_catalog(lambda line: out.note(f"note: {one_line(line, 1_000)}")),
    )
    report = replace(report, origin=origin_of(base, head, wanted.repo, settings.upstream_repo))
    if not base.has_tests:
        report = replace(report, notes=(upgrade_text.wheels_have_no_tests(), *report.notes))
    if results is not None:
        outcomes = compare_outcomes(*results, report.difference, report.operators, device)
        report = replace(report, outcomes=outcomes)
    if wanted.summaries:
        report = _described(report, sides, settings)
    seen = results[1].attempts if results is not None else ()
    patch = propose_patch(report, documents, seen) if wanted.patch else ""
    return MadeReport(report, patch, (_release(base), _release(head)))


def _release(side: Side) -> str:
    return release_in(side.tree.read("version.txt") or "")


def _results(files: tuple[Path, Path], sides: tuple[Side, Side], device: str) -> tuple[Results, Results]:
    """Read before the trees are compared, which takes longer than to see that a file is none of results."""
    try:
        before, after = (
            Results(side.name, observed_in(file, Naming(device, names_in(side.tree))))
            for file, side in zip(files, sides, strict=True)
        )
    except BadResults as error:
        raise BadResults(error.message, upgrade_text.results_hint()) from error
    return before, after


def _described(report: UpgradeReport, sides: tuple[Side, Side], settings: RelaySettings) -> UpgradeReport:
    base, head = sides
    with configured_model(settings) as model:
        if model is None:
            return report
        how = Describing(model, settings.llm_model or settings.llm_provider, budget_of(settings))
        summaries, notes = summarise_areas(report, base.tree, head.tree, how)
    return replace(report, summaries=summaries, notes=(*report.notes, *notes))
