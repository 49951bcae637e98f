"""From a change to the tests it can affect: the four stages in a row.

    change  ->  ownership  ->  triage  ->  manifests
    files       candidates     kept        kept on this device

A selection that is not safe is widened to every test; it is never left empty without a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from selector.catalog import Catalog, CatalogCache, build_catalog
from selector.change import Category, ChangeSet, analyse
from selector.change.relevance import on_out_of_tree_device
from selector.collector import collector_paused
from selector.cut import WHOLE, Cut, Ground, cut_plan
from selector.heard import Heard
from selector.known import NOTHING, Known
from selector.manifests import ManifestSet, admit
from selector.manifests.models import is_model_file
from selector.ownership import Ownership, link_tests
from selector.ownership.links import EVIDENCE_CAP
from selector.ownership.models import model_files
from selector.ownership.widening import widen, widening_reasons
from selector.plan_key import model_digest, plan_key
from selector.trees import SourceTree, tree_id_of
from selector.triage import Budget, LlmClient, Sources, triage
from selector.types import (
    Candidate,
    Reason,
    Selection,
    SelectionState,
    Stage,
    StageCount,
    StageResult,
)

_NOTES_CAP = 20
#: Entered around a stage, by whoever wants to know how long it takes.
Watch = Callable[[str], AbstractContextManager[object]]


def _unwatched(_stage: str) -> AbstractContextManager[object]:
    return nullcontext()


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
    device: str = "",
    budget: Budget | None = None,
    cache: CatalogCache | None = None,
    watch: Watch = _unwatched,
) -> Outcome:
    """Select the base tests that `diff` can affect. `title` and `body` are the author's words, untrusted.

    Without `llm` stage 3 ranks offline, `budget` bounds what asking it may cost; without `manifests` stage 4 is left
    out; without anything `known` stage 2 has only what is written. `cut` says how much of it is to run. `device` names
    what the plan is for and goes into its key. `cache` holds what was read of earlier trees and changes nothing but the
    time. `watch` is entered around each stage, with its name. The same input gives the same answer.
    """
    asked = _Asked(diff, base, head, title, body, llm, manifests, Heard(known), cut, device, budget)
    with watch("change"):
        change = on_out_of_tree_device(analyse(diff, base, head))
    funnel = [_count_files(change)]
    if not (change.relevant or change.unreadable or cut.full):
        return Outcome(change, _nothing(asked, funnel, "no changed file can affect a test"))

    with watch("ownership"):
        upstream = build_catalog(head, cache)
        models = model_files(manifests)
        ownership = link_tests(change, upstream, f"{title}\n{body}", asked.heard.known, models)
        catalog = upstream.beside(models)
    with watch("triage"):
        triaged = _triaged(asked, change, catalog, ownership)
    if triaged.state is SelectionState.NOTHING_AFFECTED:
        return Outcome(change, _nothing(asked, funnel, *triaged.reasons), catalog)
    considered = len(triaged.considered)
    funnel.append(_count(Stage.OWNERSHIP, catalog.size, considered, _ownership_summary(triaged)))
    funnel.append(_count(Stage.TRIAGE, considered, len(triaged.result.kept), _triage_summary(triaged)))
    with watch("manifests"):
        return Outcome(change, _planned(asked, triaged, catalog, ownership, funnel), catalog)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The inputs of one selection; `heard` is what is known."""

    diff: str
    base: SourceTree
    head: SourceTree
    title: str
    body: str
    llm: LlmClient | None
    manifests: ManifestSet | None
    heard: Heard
    cut: Cut
    device: str
    budget: Budget | None

    def key(self, considered: Sequence[Candidate]) -> str:
        """The plan's key, after the last question to what is known. `considered` has been through stage 3."""
        return plan_key(
            diff=self.diff,
            words=(self.title, self.body),
            base=self.base,
            head=self.head,
            manifests=self.manifests,
            model=model_digest(self.llm, considered),
            heard=self.heard.digest,
            device=self.device,
            cut=self.cut,
        )

    @property
    def key_notes(self) -> tuple[str, ...]:
        named = tree_id_of(self.base) and tree_id_of(self.head)
        return () if named else ("these trees have no git id, so the plan's key rests on the diff alone",)


@dataclass(frozen=True, slots=True)
class _Triaged:
    """What stage 3 decided, or every test, for `reasons`, where that was not safe or everything was asked for."""

    result: StageResult
    state: SelectionState
    reasons: tuple[str, ...] = ()

    @property
    def considered(self) -> tuple[Candidate, ...]:
        return (*self.result.kept, *self.result.dropped)


def _triaged(asked: _Asked, change: ChangeSet, catalog: Catalog, ownership: Ownership) -> _Triaged:
    if asked.cut.full:
        return _Triaged(_everything(catalog, ownership, asked.cut.full), SelectionState.FULL, (asked.cut.full,))
    reasons = widening_reasons(change, ownership.unlinked, catalog)
    if not reasons:
        result = triage(
            *(change, ownership.candidates, catalog),
            title=asked.title,
            body=asked.body,
            llm=asked.llm,
            sources=Sources(asked.head, asked.manifests, asked.heard.known.observed),
            budget=asked.budget,
        )
        if not all(is_model_file(candidate.test.file) for candidate in result.kept):
            return _Triaged(result, SelectionState.SELECTED)
        if _only_tests_went(change):
            return _Triaged(result, SelectionState.NOTHING_AFFECTED, ("the change only removes tests",))
        if all(file.only_documents for file in change.relevant):
            return _Triaged(result, SelectionState.NOTHING_AFFECTED, ("docstrings changed, which no test reads",))
        reasons = ("no test could be tied to the change",)
    result = StageResult(Stage.TRIAGE, widen(catalog, ownership.candidates, reasons), ())
    return _Triaged(result, SelectionState.WIDENED, reasons)


def _everything(catalog: Catalog, ownership: Ownership, why: str) -> StageResult:
    """Every test, those that stage 2 found with what it found."""
    found = {candidate.test: candidate for candidate in ownership.candidates}
    reason = Reason(Stage.OWNERSHIP, "full", why[:EVIDENCE_CAP])
    every = dict.fromkeys(test.test for test in catalog)
    return StageResult(Stage.TRIAGE, tuple(found.get(test, Candidate(test)).because(reason) for test in every), ())


def _planned(
    asked: _Asked, triaged: _Triaged, catalog: Catalog, ownership: Ownership, funnel: list[StageCount]
) -> Selection:
    """Stage 4: what the manifests admit, and of that what is to run."""
    kept, dropped = triaged.result.kept, triaged.result.dropped
    state, notes = triaged.state, (*_state_notes(triaged, catalog), *triaged.result.notes)
    if asked.manifests is not None:
        admitted = admit(kept, asked.manifests)
        funnel.append(_count(Stage.MANIFESTS, len(kept), len(admitted.kept), "base tests that the manifests name"))
        state = SelectionState.NONE_ADMITTED if kept and not admitted.kept else state
        kept, dropped, notes = admitted.kept, (*dropped, *admitted.dropped), (*notes, *admitted.notes)
    probabilities, durations = ownership.probabilities, asked.heard.known.durations
    ground = Ground(catalog, asked.manifests, triaged.considered, probabilities, durations)
    key = asked.key(triaged.considered)
    plan = cut_plan(kept, dropped, ground, asked.cut, key)
    if plan.words:
        funnel[-1] = replace(funnel[-1], left=len(plan.kept), summary=f"{funnel[-1].summary}; {plan.words}")
    notes = (*notes, *plan.notes, *asked.key_notes)
    return Selection(state, plan.kept, plan.dropped, tuple(funnel), notes, key, plan.cost)


def _state_notes(triaged: _Triaged, catalog: Catalog) -> tuple[str, ...]:
    notes = () if catalog.size else ("the tree has no test files, so nothing could be selected",)
    word = "everything runs" if triaged.state is SelectionState.FULL else "widened"
    return (*notes, *(f"{word}: {reason}" for reason in triaged.reasons[:_NOTES_CAP]))


def _nothing(asked: _Asked, funnel: Sequence[StageCount], note: str) -> Selection:
    notes = (note, *asked.key_notes)
    return Selection(SelectionState.NOTHING_AFFECTED, (), (), tuple(funnel), notes, asked.key(()))


def _only_tests_went(change: ChangeSet) -> bool:
    return all(file.category is Category.TEST for file in change.relevant)


def _count(stage: Stage, entered: int, left: int, summary: str) -> StageCount:
    return StageCount(stage, entered, left, "tests", summary)


def _count_files(change: ChangeSet) -> StageCount:
    reasons = sorted({file.noop for file in change.files if file.noop})
    summary = f"left out: {'; '.join(reasons)}" if reasons else "every changed file can matter"
    return StageCount(Stage.CHANGE, len(change.files), len(change.relevant), "changed files", summary)


def _ownership_summary(triaged: _Triaged) -> str:
    if triaged.reasons:
        return f"every test, because {triaged.reasons[0][:200]}"
    must_run = sum(candidate.must_run for candidate in triaged.result.kept)
    return f"tests tied to the change, {must_run} of them must run"


def _triage_summary(triaged: _Triaged) -> str:
    if triaged.state is SelectionState.FULL:
        return "nothing is dropped when everything is asked for"
    if triaged.reasons:
        return "nothing is dropped from a widened selection"
    return f"{len(triaged.result.dropped)} uncertain tests put off"
