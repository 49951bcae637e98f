"""From a change to the tests it can affect: the four stages in a row.

    change  ->  ownership  ->  triage  ->  manifests
    files       candidates     kept        kept on this device

A selection that is not safe is widened to every test; it is never left empty without a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selector.catalog import Catalog, CatalogCache, build_catalog
from selector.change import Category, ChangeSet, analyse
from selector.change.relevance import on_out_of_tree_device
from selector.collector import collector_paused
from selector.cut import WHOLE, Cut
from selector.known import NOTHING, Known
from selector.manifests import ManifestSet, admit
from selector.ownership import Ownership, link_tests
from selector.ownership.widening import widen, widening_reasons
from selector.trees import SourceTree
from selector.triage import Budget, LlmClient, Sources, triage
from selector.types import Candidate, Selection, SelectionState, Stage, StageCount, StageResult

_NOTES_CAP = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What stage 1 saw and what all stages selected. `catalog` is None when stage 1 was enough."""

    change: ChangeSet
    selection: Selection
    catalog: Catalog | None = None


# Over a catalog's million words the collector would take as long as stages 2 and 3 do, and find no garbage.
@collector_paused()
def select(
    diff: str,
    base: SourceTree,
    head: SourceTree,
    *,
    title: str = "",
    body: str = "",
    llm: LlmClient | None,
    manifests: ManifestSet | None,
    known: Known = NOTHING,
    cut: Cut = WHOLE,
    budget: Budget | None = None,
    cache: CatalogCache | None = None,
) -> Outcome:
    """Select the base tests that `diff` can affect. `title` and `body` are the author's words, untrusted.

    Without `llm` stage 3 ranks offline, `budget` bounds what asking it may cost; without `manifests` stage 4 is left
    out; without anything `known` stage 2 has only what is written. `cache` holds what was read of earlier
    trees and changes nothing but the time. The same input gives the same answer.
    """
    change = on_out_of_tree_device(analyse(diff, base, head))
    funnel = [_count_files(change)]
    if not change.relevant and not change.unreadable:
        return Outcome(change, _nothing(funnel, "no changed file can affect a test"))

    catalog = build_catalog(head, cache)
    ownership = link_tests(change, catalog, f"{title}\n{body}", known)
    reasons = widening_reasons(change, ownership.unlinked)
    triaged = _widened(catalog, ownership, reasons)
    if not reasons:
        triaged = triage(
            *(change, ownership.candidates, catalog),
            title=title,
            body=body,
            llm=llm,
            sources=Sources(head, manifests, known.observed),
            budget=budget,
        )
        if not triaged.kept and _only_tests_went(change):
            return Outcome(change, _nothing(funnel, "the change only removes tests"), catalog)
        if not triaged.kept:
            reasons = ("no test could be tied to the change",)
            triaged = _widened(catalog, ownership, reasons)
    considered = len(triaged.kept) + len(triaged.dropped)
    funnel.append(_count(Stage.OWNERSHIP, catalog.size, considered, _ownership_summary(triaged, reasons)))
    funnel.append(_count(Stage.TRIAGE, considered, len(triaged.kept), _triage_summary(triaged, reasons)))

    results = [triaged]
    if manifests is not None:
        results.append(admit(triaged.kept, manifests))
        listed = len(results[-1].kept)
        funnel.append(_count(Stage.MANIFESTS, len(triaged.kept), listed, "base tests that the manifests name"))
    return Outcome(change, _selection(results, funnel, reasons, catalog), catalog)


def _widened(catalog: Catalog, ownership: Ownership, reasons: tuple[str, ...]) -> StageResult:
    """Every test, and nothing left for triage to drop."""
    everything = widen(catalog, ownership.candidates, reasons) if reasons else ()
    return StageResult(Stage.TRIAGE, everything, ())


def _only_tests_went(change: ChangeSet) -> bool:
    return all(file.category is Category.TEST for file in change.relevant)


def _nothing(funnel: Sequence[StageCount], note: str) -> Selection:
    return Selection(SelectionState.NOTHING_AFFECTED, (), (), tuple(funnel), (note,))


def _selection(
    results: Sequence[StageResult], funnel: Sequence[StageCount], reasons: tuple[str, ...], catalog: Catalog
) -> Selection:
    state = SelectionState.WIDENED if reasons else SelectionState.SELECTED
    dropped: tuple[Candidate, ...] = tuple(candidate for result in results for candidate in result.dropped)
    notes: tuple[str, ...] = () if catalog.size else ("the tree has no test files, so nothing could be selected",)
    notes += tuple(f"widened: {reason}" for reason in reasons[:_NOTES_CAP])
    notes += tuple(note for result in results for note in result.notes)
    return Selection(state, results[-1].kept, dropped, tuple(funnel), notes)


def _count(stage: Stage, entered: int, left: int, summary: str) -> StageCount:
    return StageCount(stage, entered, left, "tests", summary)


def _count_files(change: ChangeSet) -> StageCount:
    reasons = sorted({file.noop for file in change.files if file.noop})
    summary = f"left out: {'; '.join(reasons)}" if reasons else "every changed file can matter"
    return StageCount(Stage.CHANGE, len(change.files), len(change.relevant), "changed files", summary)


def _ownership_summary(triaged: StageResult, reasons: tuple[str, ...]) -> str:
    if reasons:
        return f"every test, because {reasons[0][:200]}"
    must_run = sum(candidate.must_run for candidate in triaged.kept)
    return f"tests tied to the change, {must_run} of them must run"


def _triage_summary(triaged: StageResult, reasons: tuple[str, ...]) -> str:
    if reasons:
        return "nothing is dropped from a widened selection"
    return f"{len(triaged.dropped)} uncertain tests put off"
