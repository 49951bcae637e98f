"""One record for every considered test, selected or not (spec 6.9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

from selector.cut.holdout import RULE as HOLDOUT
from selector.manifests import ManifestSet
from selector.types import BaseTest, Candidate, Mode, Reason, Selection, Stage, WeighedSignal

#: Rules that take every test, whatever else is said of it.
TAKES_ALL = frozenset({"full", "widened"})
_WEIGHED = "weighed signals"


class Decision(StrEnum):
    """What became of a considered test. `runs by lot`: it was left out, and runs to see what leaving out misses."""

    MUST_RUN = "must run"
    SELECTED = "selected"
    BY_LOT = "runs by lot"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """An entry that is about a test, or the word of its file block on unlisted tests: `manifest.yaml:line`, mode."""

    place: str
    mode: Mode


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a test runs, or does not. `rule` with `evidence` is the reason that decided, of `stage`; `probability` (0 to
    1) that of its file breaking; `seconds` are assumed where `assumed` says so; `plan` is the plan's key."""

    test: str
    file: str
    decision: Decision
    stage: Stage | None
    rule: str
    evidence: str
    probability: float
    score: float
    signals: tuple[WeighedSignal, ...]
    seconds: float
    assumed: bool
    manifest: tuple[ManifestEntry, ...]
    plan: str


def explain(selection: Selection, manifests: ManifestSet | None) -> Iterator[Explanation]:
    """The records of a selection: what runs, and then what does not, in the order of the plan."""
    for kept, candidates in ((True, selection.kept), (False, selection.dropped)):
        for candidate in candidates:
            yield _explanation(candidate, kept, manifests, selection.key)


def as_object(explanation: Explanation) -> dict[str, object]:
    """The record for a line of JSON."""
    told = asdict(explanation)
    return {**told, "stage": None if explanation.stage is None else int(explanation.stage)}


def decision_of(candidate: Candidate, kept: bool) -> Decision:
    if not kept:
        return Decision.LEFT_OUT
    if any(reason.rule == HOLDOUT for reason in candidate.reasons):
        return Decision.BY_LOT
    return Decision.MUST_RUN if candidate.must_run else Decision.SELECTED


def deciding(candidate: Candidate, kept: bool) -> Reason | None:
    """The reason that decided; None for a candidate without any.

    What leaves a test out comes last. What runs does so for the lot, because everything does, for the strongest tie
    to the change where it must, and else by the word of stage 3; that the manifests admit it decides nothing.
    """
    decision = decision_of(candidate, kept)
    if decision in {Decision.LEFT_OUT, Decision.BY_LOT}:
        return candidate.reasons[-1] if candidate.reasons else None
    ties = [reason for reason in candidate.reasons if reason.stage is Stage.OWNERSHIP]
    takes_all = [reason for reason in ties if reason.rule in TAKES_ALL]
    if decision is Decision.MUST_RUN and (own := [it for it in ties if it.rule not in {_WEIGHED, *TAKES_ALL}]):
        return max(own, key=lambda reason: reason.score or 0.0)
    triaged = [reason for reason in candidate.reasons if reason.stage is Stage.TRIAGE]
    return next(iter((*takes_all, *reversed(triaged), *reversed(ties))), None)


def _explanation(candidate: Candidate, kept: bool, manifests: ManifestSet | None, plan: str) -> Explanation:
    reason = deciding(candidate, kept)
    return Explanation(
        test=str(candidate.test),
        file=candidate.test.file,
        decision=decision_of(candidate, kept),
        stage=reason.stage if reason else None,
        rule=reason.rule if reason else "",
        evidence=reason.evidence if reason else "",
        probability=candidate.probability,
        score=candidate.score,
        signals=candidate.signals,
        seconds=candidate.seconds,
        assumed=candidate.assumed,
        manifest=entries_about(candidate.test, manifests),
        plan=plan,
    )


def entries_about(test: BaseTest, manifests: ManifestSet | None) -> tuple[ManifestEntry, ...]:
    """What the manifests say about a base test, before anything is collected; nothing about a file none of them lists.
    Several entries can be about different variants of it."""
    rules = manifests.rules(test.file) if manifests is not None else None
    if rules is None:
        return ()
    names = () if test.is_rest_of_file else rules.matches(test.name)
    entries = dict.fromkeys(name.entry for name in names if name.is_for_class(test.cls))
    told = tuple(ManifestEntry(entry.provenance, entry.mode) for entry in entries)
    return told or (ManifestEntry(rules.provenance, rules.unlisted),)
