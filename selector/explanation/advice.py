"""What would change the fate of one test: a sentence for whoever asks why."""

from __future__ import annotations

from collections.abc import Iterator

from selector.explanation.record import Decision, deciding, decision_of
from selector.manifests.decision import NOT_IN_MANIFESTS
from selector.triage.lexical import KEEP_AT
from selector.types import Candidate, Stage

FULL = "everything runs with the label `full` or with --full"


def what_would_change(candidate: Candidate, kept: bool) -> tuple[str, ...]:
    """Sentences without a full stop, the nearest way first."""
    decision = decision_of(candidate, kept)
    ways = {
        Decision.MUST_RUN: _must_run,
        Decision.SELECTED: _selected,
        Decision.BY_LOT: _by_lot,
        Decision.LEFT_OUT: _left_out,
    }
    return tuple(ways[decision](candidate))


def _must_run(_: Candidate) -> Iterator[str]:
    yield "it must run: no score, model or budget leaves it out, only a manifest that skips it"


def _selected(candidate: Candidate) -> Iterator[str]:
    reason = deciding(candidate, True)
    if reason is not None and reason.rule == "widened":
        yield "a change without the cause of the widening would be judged test by test"
    elif reason is not None and reason.stage is Stage.TRIAGE and reason.score is not None:
        yield f"kept from {KEEP_AT:.2f}, has {reason.score:.2f}; a budget in seconds can leave it out"


def _by_lot(_: Candidate) -> Iterator[str]:
    yield "another plan draws another lot; without --holdout it would not run"


def _left_out(candidate: Candidate) -> Iterator[str]:
    reason = deciding(candidate, False)
    if reason is None:
        return
    if reason.stage is Stage.TRIAGE:
        yield f"kept from {KEEP_AT:.2f}, has {reason.score or 0.0:.2f}"
        yield FULL
    elif reason.rule == NOT_IN_MANIFESTS:
        yield f"no manifest lists {candidate.test.file}: a file block with this path would let it run"
    elif reason.rule.startswith("over the budget"):
        yield "a larger budget, or none"
        yield FULL
    else:
        yield "another mode than skip at the place in the manifest that is named above"
