"""What the attempts at a test mean, and what the tests of a run mean together. Pure: no clock, no record, no settings.

The verdict of one test is expectation x observation on head, compared with the base commit. Attempts on base that are
reused from an earlier run of the very same base count like fresh ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relay.contract import Attempt, Expected, NotTested, NotTestedReason, Observation, Tree
from relay.views import Conclusion, Verdict

#: How the line begins with which a device refuses a test by a named rule.
UNSUPPORTED_MARK = "{device}: unsupported"

_FAILING = {
    Observation.FAILED: Verdict.REGRESSION,
    Observation.CRASHED: Verdict.CRASH,
    Observation.TIMED_OUT: Verdict.TIMEOUT,
    Observation.MISSING: Verdict.MISSING,
}

#: Observation on head -> what base must have shown for head to be no worse. A crash is worse than a plain failure.
_LIKEWISE = {
    Observation.FAILED: frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT}),
    Observation.CRASHED: frozenset({Observation.CRASHED}),
    Observation.TIMED_OUT: frozenset({Observation.TIMED_OUT, Observation.CRASHED}),
    Observation.MISSING: frozenset({Observation.MISSING}),
}

_FINE = frozenset({Observation.PASSED, Observation.SKIPPED})
#: A test that is missing on base is new, which is no failure that could be fixed.
_FIXABLE = frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT})

_XFAIL = {
    Observation.PASSED: Verdict.XPASS,
    Observation.FAILED: Verdict.KNOWN_FAILURE,
    Observation.SKIPPED: Verdict.OK,
    Observation.CRASHED: Verdict.CRASH,
    Observation.TIMED_OUT: Verdict.TIMEOUT,
    Observation.MISSING: Verdict.MISSING,
}

#: Verdicts of a must-pass test that fail the run, in the order the headline names them.
_NAMES = {
    Verdict.REGRESSION: ("regression", "regressions"),
    Verdict.CRASH: ("crash", "crashes"),
    Verdict.TIMEOUT: ("timeout", "timeouts"),
    Verdict.MISSING: ("missing test", "missing tests"),
    Verdict.XPASS: ("unexpected pass", "unexpected passes"),
    Verdict.INFRA: ("without an answer", "without an answer"),
    Verdict.FLAKY: ("flaky", "flaky"),
    Verdict.KNOWN_FAILURE: ("known failure", "known failures"),
    Verdict.UNSUPPORTED: ("unsupported", "unsupported"),
    Verdict.FIXED: ("fixed", "fixed"),
}
_NONE_AFFECTED = "Nothing to test: no changed file can affect a test."
_NONE_TO_RUN = "Nothing tested: of the tests the change may affect, none is one the manifests let run here."
#: Verdicts that speak against a change where a test must pass.
BREAKING = frozenset({Verdict.REGRESSION, Verdict.CRASH, Verdict.TIMEOUT, Verdict.MISSING})

_NOT_TESTED = {
    NotTestedReason.NEEDS_BUILD: "Not tested: the change needs a build.",
    NotTestedReason.SKEW: "Not tested: the tree and the installed build differ where the change is.",
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of one planned test: verdict, and the observation, detail and duration that are shown for it."""

    verdict: Verdict
    observation: Observation | None
    detail: str
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class JudgedTest:
    """What the conclusion needs to know of a test."""

    expected: Expected
    verdict: Verdict

    @property
    def breaks(self) -> bool:
        """Whether this test alone makes the run a failure."""
        if self.expected is Expected.XFAIL_STRICT:
            return self.verdict is Verdict.XPASS
        return self.expected is Expected.MANDATORY_SUCCESS and self.verdict in BREAKING


def judge(expected: Expected, attempts: Sequence[Attempt], device: str) -> Judgement:
    """The verdict of one test on a device from all its attempts, in whatever order they are given.

    Without any attempt on head there is no answer about the change: `infra`.
    """
    head, base = _ordered(attempts, Tree.HEAD), _ordered(attempts, Tree.BASE)
    if not head:
        return Judgement(Verdict.INFRA, None, "The worker sent no attempt on the head commit.", None)
    last = head[-1]
    earlier = [attempt for attempt in head[:-1] if attempt.observation in _FAILING]
    if earlier and last.observation in (Observation.PASSED, Observation.SKIPPED):
        # The failure is what a reader wants to see of a flaky test.
        return Judgement(Verdict.FLAKY, last.observation, earlier[-1].detail, last.duration_s)
    mark = UNSUPPORTED_MARK.format(device=device)
    verdict = _mandatory(last, base, mark) if expected is Expected.MANDATORY_SUCCESS else _XFAIL[last.observation]
    return Judgement(verdict, last.observation, last.detail, last.duration_s)


def is_newly_broken(expected: Expected, verdict: Verdict | None, attempts: Sequence[Attempt]) -> bool:
    """Whether the change broke a test that passed without it. Stricter than the verdict: a test that did not run on
    base is no evidence against anybody but itself, and one that is known to flake is none at all."""
    on_base = {attempt.observation for attempt in attempts if attempt.tree is Tree.BASE}
    return expected is Expected.MANDATORY_SUCCESS and verdict in BREAKING and on_base == {Observation.PASSED}


def _mandatory(last: Attempt, base: Sequence[Attempt], refusal: str) -> Verdict:
    """Flaky needs evidence: failing on head alone is none, and neither is a base that only fails; a base that did as
    head does and was also fine is."""
    seen = {attempt.observation for attempt in base}
    if last.observation not in _FAILING:
        fixed = last.observation is Observation.PASSED and seen and seen <= _FIXABLE
        return Verdict.FIXED if fixed else Verdict.OK
    if not seen & _LIKEWISE[last.observation]:
        return _FAILING[last.observation]
    if seen & _FINE:
        return Verdict.FLAKY
    if base[-1].observation not in _LIKEWISE[last.observation]:
        return _FAILING[last.observation]
    refused = refusal in last.detail and any(refusal in attempt.detail for attempt in base)
    return Verdict.UNSUPPORTED if refused else Verdict.KNOWN_FAILURE


def _ordered(attempts: Iterable[Attempt], tree: Tree) -> list[Attempt]:
    return sorted((attempt for attempt in attempts if attempt.tree is tree), key=lambda attempt: attempt.number)


def conclude(
    tests: Sequence[JudgedTest], not_tested: NotTested | None, *, affected: bool = True, release: str = ""
) -> tuple[Conclusion, str]:
    """The conclusion of a run and its headline: one sentence for people, with counts. `affected` is False when the
    selection has shown that the change can affect no test, which is another thing than having none to run here. A run
    of a `release` is about no change: how its tests ended is one half of a comparison.

    A run with tests that got no answer is never a success: unanswered is not green.
    """
    if not_tested is not None:
        return Conclusion.NEUTRAL, _NOT_TESTED[not_tested.reason]  # readers find the detail beside it
    if not tests:
        return Conclusion.NEUTRAL, _NONE_TO_RUN if affected else _NONE_AFFECTED
    counts = Counter(test.verdict for test in tests)
    tally = f"{counts[Verdict.OK]}/{len(tests)} tests ok{_rest(counts)}."
    if release:
        return Conclusion.NEUTRAL, f"On torch {release}: {tally}"
    if any(test.breaks for test in tests):
        broken = sum(test.breaks for test in tests)
        return Conclusion.FAILURE, f"{_count(broken, 'test breaks', 'tests break')} with this change: {tally}"
    if counts[Verdict.INFRA]:
        return Conclusion.NEUTRAL, f"No full answer, the service lost work: {tally}"
    return Conclusion.SUCCESS, f"Nothing breaks with this change: {tally}"


def _rest(counts: Counter[Verdict]) -> str:
    return "".join(f", {_count(counts[verdict], *words)}" for verdict, words in _NAMES.items() if counts[verdict])


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
