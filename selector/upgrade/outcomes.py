"""What an upgrade did to tests that ran on both releases: the results side by side, told apart by whether the test
itself is still the same.

Results are attempts as `selector.manifests.authoring.result_files` reads them. A test that was renamed or moved is
followed. Nothing is run here, and no model has a say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from selector.manifests.authoring.results import Observation, ObservedTest
from selector.types import BaseTest
from selector.upgrade.types import (
    ChangedTest,
    OpInfoAspect,
    OpInfoChange,
    OpInfoDifference,
    OutcomeDifference,
    OutcomeKind,
    TestChange,
    TestDifference,
    UpgradeOutcome,
)

#: How far from passing an observation is; to end further from it is to be broken.
_DISTANCE = {
    Observation.PASSED: 0,
    Observation.SKIPPED: 1,
    Observation.FAILED: 2,
    Observation.TIMED_OUT: 3,
    Observation.CRASHED: 3,
    Observation.MISSING: 3,
}
#: What makes a test ask for something else.
_MEANING = frozenset({TestChange.BODY, TestChange.DECORATORS, TestChange.HELPER})
_WORDS = {observation: observation.value.replace("_", " ") for observation in Observation}


@dataclass(frozen=True, slots=True)
class Results:
    """What was seen on one release: its name, and every attempt."""

    release: str
    attempts: Sequence[ObservedTest]


def compare_outcomes(
    before: Results, after: Results, difference: TestDifference, operators: OpInfoDifference, device: str
) -> OutcomeDifference:
    """Every collected test of either side, classified. `device` is the word that generated names carry."""
    became = {it.former: it.test for it in difference.tests if it.former is not None}
    judge = _Judge(before.release, after.release, device, {it.test: it for it in difference.tests}, _by_word(operators))
    old, new = _by_variant(before.attempts, became), _by_variant(after.attempts, {})
    judged = [judge.judge(variant, old[variant], new[variant]) for variant in sorted(old.keys() & new.keys())]
    order = list(OutcomeKind)
    told = [outcome for outcome in judged if outcome.kind is not OutcomeKind.SAME]
    return OutcomeDifference(
        outcomes=tuple(sorted(told, key=lambda it: (order.index(it.kind), it.id))),
        same=len(judged) - len(told),
        only_before=len(old.keys() - new.keys()),
        only_after=len(new.keys() - old.keys()),
    )


@dataclass(frozen=True, slots=True, order=True)
class _Variant:
    """A collected test by what does not change with its name: the base test it has on the newer release, and what the
    generator added to the name."""

    test: BaseTest
    added: str


def _by_variant(
    attempts: Iterable[ObservedTest], became: Mapping[BaseTest, BaseTest]
) -> dict[_Variant, list[ObservedTest]]:
    found: dict[_Variant, list[ObservedTest]] = {}
    for attempt in attempts:
        test = attempt.test.base_test
        added = attempt.test.method.removeprefix(attempt.base)
        found.setdefault(_Variant(became.get(test, test), added), []).append(attempt)
    return found


def _by_word(operators: OpInfoDifference) -> dict[str, OpInfoChange]:
    """Entries that differ for a device that is none of upstream's, by what names of generated tests make of theirs."""
    elsewhere = {OpInfoAspect.ELSEWHERE}
    changed = (it for it in operators.changes if it.change is TestChange.BODY and set(it.aspects) != elsewhere)
    return {it.name.replace(".", "_"): it for it in changed}


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges one test by its attempts on both releases."""

    base: str
    head: str
    device: str
    tests: Mapping[BaseTest, ChangedTest]
    operators: Mapping[str, OpInfoChange] = field(default_factory=dict)

    def judge(self, variant: _Variant, old: Sequence[ObservedTest], new: Sequence[ObservedTest]) -> UpgradeOutcome:
        kind, reason = self._kind(variant, old, new)
        former = old[-1].id if old[-1].id != new[-1].id else ""
        worst = max(new, key=lambda it: _DISTANCE[it.observation])
        before, after = _seen(old), _seen(new)
        return UpgradeOutcome(new[-1].id, variant.test, kind, before, after, reason, former, worst.detail)

    def _kind(
        self, variant: _Variant, old: Sequence[ObservedTest], new: Sequence[ObservedTest]
    ) -> tuple[OutcomeKind, str]:
        ended = f"{_seen(old)} on {self.base}, {_seen(new)} on {self.head}"
        for release, attempts in ((self.base, old), (self.head, new)):
            if len({_DISTANCE[it.observation] for it in attempts}) > 1:
                return OutcomeKind.FLAKY, f"not alike in {len(attempts)} attempts on {release}: {ended}"
        was, now = _DISTANCE[old[-1].observation], _DISTANCE[new[-1].observation]
        if was == now or (now < was and now):
            return OutcomeKind.SAME, ended
        if what := self._meaning(variant):
            return OutcomeKind.MEANING, f"{ended}; {what}"
        return (OutcomeKind.BROKEN if now > was else OutcomeKind.FIXED), ended

    def _meaning(self, variant: _Variant) -> str:
        """What of the test itself changed; empty when it asks for the same as before."""
        changed = self.tests.get(variant.test)
        if changed is not None and (found := [it.value for it in changed.changes if it in _MEANING]):
            return f"changed: {', '.join(found)}"
        word, device, _ = variant.added.removeprefix("_").partition(f"_{self.device}")
        entry = self.operators.get(word) if device else None
        return "" if entry is None else f"the operator's entry changed: {', '.join(it.value for it in entry.aspects)}"


def _seen(attempts: Sequence[ObservedTest]) -> str:
    """`passed`, or `passed and failed`."""
    return " and ".join(dict.fromkeys(_WORDS[it.observation] for it in attempts))
