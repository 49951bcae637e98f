"""What a run is placed in the queue by: its class and its group, fixed when it is opened. Pure.

A group is what shares fairly with others: the runs of a pull request, the pushes to a ref, the audits. Runs of a pull
request supersede each other (`relay.runs.creation`); pushes and audits never do.
"""

from __future__ import annotations

from dataclasses import dataclass

from relay.queue_views import WorkClass
from relay.runs.scheduling import is_background
from relay.store.models import Trigger

_BY_HAND = frozenset({Trigger.RERUN, Trigger.MANUAL})
_OF_AUDITS = frozenset({Trigger.AUDIT, Trigger.CONFIRM})


@dataclass(frozen=True, slots=True)
class Standing:
    """The columns of a run that the queue goes by."""

    work_class: WorkClass
    group_key: str
    asked: bool


def standing(
    trigger: Trigger, repo: str, pr_number: int | None, base_ref: str, *, known: WorkClass | None = None
) -> Standing:
    """Where a run belongs. `known` is its class where that is not told by the rest: the daily audit's, and that of the
    run which is done again."""
    work_class = known or _class(trigger, pr_number)
    return Standing(work_class, _group(work_class, repo, pr_number, base_ref), trigger in _BY_HAND)


def _class(trigger: Trigger, pr_number: int | None) -> WorkClass:
    if trigger in _OF_AUDITS:
        return WorkClass.AUDIT
    return WorkClass.MERGED if pr_number is None else WorkClass.PULL_REQUEST


def _group(work_class: WorkClass, repo: str, pr_number: int | None, base_ref: str) -> str:
    if is_background(work_class):
        return work_class.value
    return f"ref:{repo.lower()}:{base_ref}" if pr_number is None else f"pr:{repo.lower()}#{pr_number}"
