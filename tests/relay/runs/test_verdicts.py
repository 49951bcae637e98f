"""The verdict table, line by line and as a whole, and what a run's verdicts mean together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest

from relay.contract import Attempt, Expected, NotTested, NotTestedReason, Observation, Tree
from relay.runs.verdicts import UNSUPPORTED_MARK, JudgedTest, Judgement, conclude
from relay.runs.verdicts import judge as judge_on
from relay.views import Conclusion, Verdict
from tests.relay.worker_story import attempt

PASSED, FAILED, SKIPPED = Observation.PASSED, Observation.FAILED, Observation.SKIPPED
CRASHED, TIMED_OUT, MISSING = Observation.CRASHED, Observation.TIMED_OUT, Observation.MISSING
MANDATORY, XFAIL, STRICT = Expected.MANDATORY_SUCCESS, Expected.XFAIL, Expected.XFAIL_STRICT

#: (head, base) of a must-pass test with one attempt on each; None is "not run on base".
MANDATORY_TABLE = {
    **{(PASSED, base): Verdict.OK for base in (None, PASSED, SKIPPED, MISSING)},
    **{(PASSED, base): Verdict.FIXED for base in (FAILED, CRASHED, TIMED_OUT)},
    **{(SKIPPED, base): Verdict.OK for base in (None, *Observation)},
    (FAILED, None): Verdict.REGRESSION,
    (FAILED, PASSED): Verdict.REGRESSION,
    (FAILED, SKIPPED): Verdict.REGRESSION,
    (FAILED, MISSING): Verdict.REGRESSION,
    (FAILED, FAILED): Verdict.KNOWN_FAILURE,
    (FAILED, CRASHED): Verdict.KNOWN_FAILURE,
    (FAILED, TIMED_OUT): Verdict.KNOWN_FAILURE,
    (CRASHED, None): Verdict.CRASH,
    (CRASHED, PASSED): Verdict.CRASH,
    (CRASHED, SKIPPED): Verdict.CRASH,
    (CRASHED, MISSING): Verdict.CRASH,
    (CRASHED, FAILED): Verdict.CRASH,
    (CRASHED, TIMED_OUT): Verdict.CRASH,
    (CRASHED, CRASHED): Verdict.KNOWN_FAILURE,
    (TIMED_OUT, None): Verdict.TIMEOUT,
    (TIMED_OUT, PASSED): Verdict.TIMEOUT,
    (TIMED_OUT, SKIPPED): Verdict.TIMEOUT,
    (TIMED_OUT, MISSING): Verdict.TIMEOUT,
    (TIMED_OUT, FAILED): Verdict.TIMEOUT,
    (TIMED_OUT, CRASHED): Verdict.KNOWN_FAILURE,
    (TIMED_OUT, TIMED_OUT): Verdict.KNOWN_FAILURE,
    **{(MISSING, base): Verdict.MISSING for base in (None, *Observation) if base is not MISSING},
    (MISSING, MISSING): Verdict.KNOWN_FAILURE,
}

XFAIL_TABLE = {
    PASSED: Verdict.XPASS,
    FAILED: Verdict.KNOWN_FAILURE,
    SKIPPED: Verdict.OK,
    CRASHED: Verdict.CRASH,
    TIMED_OUT: Verdict.TIMEOUT,
    MISSING: Verdict.MISSING,
}


def _tries(head: Observation, base: Observation | None) -> list[Attempt]:
    tries = [attempt(head)]
    return tries if base is None else [*tries, attempt(base, tree=Tree.BASE)]


def judge(expected: Expected, attempts: Sequence[Attempt], device: str = "spyre") -> Judgement:
    return judge_on(expected, attempts, device)


def test_the_table_names_every_case() -> None:
    """No combination of head and base is left to chance."""
    assert set(MANDATORY_TABLE) == set(product(Observation, (None, *Observation)))
    assert set(XFAIL_TABLE) == set(Observation)


@pytest.mark.parametrize(("case", "verdict"), list(MANDATORY_TABLE.items()), ids=str)
def test_a_must_pass_test(case: tuple[Observation, Observation | None], verdict: Verdict) -> None:
    """Head and base together decide."""
    judgement = judge(MANDATORY, _tries(*case))
    assert judgement.verdict is verdict
    assert judgement.observation is case[0]


@pytest.mark.parametrize("expected", [XFAIL, STRICT])
@pytest.mark.parametrize(("head", "verdict"), list(XFAIL_TABLE.items()))
@pytest.mark.parametrize("base", [None, *Observation])
def test_an_expected_failure(expected: Expected, head: Observation, verdict: Verdict, base: Observation | None) -> None:
    """Only head decides; base is not asked."""
    assert judge(expected, _tries(head, base)).verdict is verdict


@pytest.mark.parametrize("expected", Expected)
@pytest.mark.parametrize("first", [FAILED, CRASHED, TIMED_OUT, MISSING])
@pytest.mark.parametrize("last", [PASSED, SKIPPED])
def test_failed_first_and_fine_later_is_flaky(expected: Expected, first: Observation, last: Observation) -> None:
    """And the failure is what the reader sees, in whatever order the attempts come."""
    tries = [attempt(first, detail="boom"), attempt(last, number=2), attempt(PASSED, tree=Tree.BASE)]
    for order in permutations(tries):
        judgement = judge(expected, order)
        assert (judgement.verdict, judgement.detail) == (Verdict.FLAKY, "boom")


def test_the_last_attempt_counts_when_all_fail() -> None:
    """A failure that became a crash is a crash."""
    tries = [attempt(FAILED), attempt(CRASHED, number=2, detail="signal 11"), attempt(PASSED, tree=Tree.BASE)]
    assert judge(MANDATORY, tries).verdict is Verdict.CRASH


@pytest.mark.parametrize("base", [FAILED, CRASHED, TIMED_OUT])
def test_a_refusal_of_the_device_on_both_sides_is_unsupported(base: Observation) -> None:
    """The device names the rule by which it refuses; a change is not to blame for it."""
    words = f"RuntimeError\n{UNSUPPORTED_MARK.format(device='spyre')}: dtype complex128"
    refused = attempt(FAILED, detail=words)
    assert judge(MANDATORY, [refused, attempt(base, tree=Tree.BASE, detail=words)]).verdict is Verdict.UNSUPPORTED
    assert judge(MANDATORY, [refused, attempt(base, tree=Tree.BASE)]).verdict is Verdict.KNOWN_FAILURE
    assert judge(MANDATORY, [refused, attempt(PASSED, tree=Tree.BASE)]).verdict is Verdict.REGRESSION
    on_both = [refused, attempt(base, tree=Tree.BASE, detail=words)]
    assert judge(MANDATORY, on_both, "quartz").verdict is Verdict.KNOWN_FAILURE  # the words are another device's


@pytest.mark.parametrize("fine", [PASSED, SKIPPED])
@pytest.mark.parametrize("bad", [FAILED, CRASHED, TIMED_OUT])
def test_a_base_that_is_of_two_minds_makes_a_failure_flaky(fine: Observation, bad: Observation) -> None:
    """That base did as head does, and also did not, is the evidence; in whatever order it was seen, now or earlier."""
    for first, second in permutations([bad, fine]):
        base = [attempt(first, tree=Tree.BASE), attempt(second, tree=Tree.BASE, number=2)]
        tries = [attempt(bad), attempt(bad, number=2), *base]
        assert judge(MANDATORY, tries).verdict is Verdict.FLAKY
        reused = [tried.model_copy(update={"reused": tried.tree is Tree.BASE}) for tried in tries]
        assert judge(MANDATORY, reused).verdict is Verdict.FLAKY
        assert judge(MANDATORY, [attempt(PASSED), *base]).verdict is Verdict.OK


def test_a_base_that_sometimes_fails_does_not_excuse_a_crash() -> None:
    base = [attempt(FAILED, tree=Tree.BASE), attempt(PASSED, tree=Tree.BASE, number=2)]
    assert judge(MANDATORY, [attempt(CRASHED), attempt(CRASHED, number=2), *base]).verdict is Verdict.CRASH


def test_failing_twice_on_both_sides_is_known_and_never_flaky() -> None:
    tries = [attempt(FAILED, tree=tree, number=number) for tree in Tree for number in (1, 2)]
    assert judge(MANDATORY, tries).verdict is Verdict.KNOWN_FAILURE
    assert judge(MANDATORY, [attempt(PASSED), *tries[2:]]).verdict is Verdict.FIXED


def test_without_an_attempt_on_head_there_is_no_answer() -> None:
    """Nothing on head, or nothing at all, is the service's fault."""
    assert judge(MANDATORY, []).verdict is Verdict.INFRA
    assert judge(MANDATORY, [attempt(PASSED, tree=Tree.BASE)]).verdict is Verdict.INFRA


BREAKING = {
    *product([MANDATORY], [Verdict.REGRESSION, Verdict.CRASH, Verdict.TIMEOUT, Verdict.MISSING]),
    (STRICT, Verdict.XPASS),
}


@pytest.mark.parametrize("case", list(product(Expected, Verdict)), ids=str)
def test_which_single_test_decides_a_run(case: tuple[Expected, Verdict]) -> None:
    """Failure for what breaks, neutral for what got no answer, success for all else."""
    conclusion, headline = conclude([JudgedTest(MANDATORY, Verdict.OK), JudgedTest(*case)], None)
    if case in BREAKING:
        assert conclusion is Conclusion.FAILURE
        assert headline.startswith("1 test breaks")
    elif case[1] is Verdict.INFRA:
        assert conclusion is Conclusion.NEUTRAL
    else:
        assert conclusion is Conclusion.SUCCESS


def test_a_failure_outweighs_lost_work() -> None:
    """A regression stays a regression although other tests got no answer."""
    tests = [JudgedTest(MANDATORY, Verdict.INFRA), JudgedTest(MANDATORY, Verdict.REGRESSION)]
    assert conclude(tests, None)[0] is Conclusion.FAILURE


def test_nothing_tested_is_neutral_and_says_whether_that_is_a_finding() -> None:
    """An empty plan says nothing for or against the change; a change that can affect no test is told apart from one
    whose tests do not run here."""
    none_affected, none_to_run = conclude([], None, affected=False), conclude([], None, affected=True)
    assert (none_affected[0], none_to_run[0]) == (Conclusion.NEUTRAL, Conclusion.NEUTRAL)
    assert "no changed file can affect a test" in none_affected[1]
    assert "none is one the manifests let run here" in none_to_run[1]


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (NotTestedReason.NEEDS_BUILD, "Not tested: the change needs a build."),
        (NotTestedReason.SKEW, "Not tested: the tree and the installed build differ where the change is."),
    ],
)
def test_not_tested_is_neutral_and_says_why(reason: NotTestedReason, sentence: str) -> None:
    """In one sentence; the worker's long detail is a field of its own."""
    not_tested = NotTested(reason=reason, detail="aten/src/x.cpp changed" * 100)
    assert conclude([], not_tested) == (Conclusion.NEUTRAL, sentence)


def test_the_headline_counts() -> None:
    """Counts, not percentages, and each kind by name."""
    tests = [JudgedTest(MANDATORY, Verdict.OK)] * 19 + [JudgedTest(MANDATORY, Verdict.REGRESSION)] * 2
    tests.append(JudgedTest(XFAIL, Verdict.KNOWN_FAILURE))
    headline = conclude(tests, None)[1]
    assert headline == "2 tests break with this change: 19/22 tests ok, 2 regressions, 1 known failure."
