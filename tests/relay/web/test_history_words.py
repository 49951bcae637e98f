"""A test's state is said in a word and a sentence, the worst that is known of it first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.contract import Expected
from relay.runs.histories import branch_failure
from relay.views import FlakeRate, TestHistory, TestOutcome, Verdict
from relay.web import history_words

NOW = datetime(2026, 11, 5, tzinfo=UTC)


def outcome(run: int, verdict: Verdict | None, on_branch: bool | None, *, pr: int | None = None) -> TestOutcome:
    return TestOutcome(
        run_id=run,
        at=NOW - timedelta(days=10 - run),
        repo="a/b",
        pr_number=pr,
        title="",
        head_sha="1" * 40,
        base_sha="2" * 40,
        trigger="webhook",
        expected=Expected.MANDATORY_SUCCESS,
        verdict=verdict,
        observation=None,
        seconds=None,
        on_branch=on_branch,
    )


def history(*outcomes: TestOutcome, disagreements: int = 0) -> TestHistory:
    flakes = FlakeRate(test="t", device="spyre", runs=2, attempts=3, commits=2, disagreements=disagreements)
    failing = branch_failure(outcomes)
    return TestHistory(test="t", device="spyre", outcomes=outcomes, next_before=None, failing=failing, flakes=flakes)


BAD, GOOD = outcome(9, Verdict.REGRESSION, False), outcome(8, Verdict.OK, True)


@pytest.mark.parametrize(
    ("told", "word", "sentence"),
    [
        (history(BAD), "failing", "Fails on the branch since 1 d ago or longer: 1 run tells so"),
        (history(BAD, BAD, GOOD, disagreements=1), "failing", "2 runs tell so, after run 8 saw it fine."),
        (
            history(outcome(9, Verdict.CRASH, None, pr=7), GOOD),
            "broken by a change",
            "Fine on the branch, in 1 of the 1 runs that tell; broken by #7.",
        ),
        (history(GOOD, disagreements=1), "flaky", "Fine on the branch, in 1 of the 1 runs that tell."),
        (history(GOOD, BAD), "fine", "Fine on the branch, in 1 of the 2 runs that tell."),
        (history(outcome(9, None, None)), "not known", "No run here tells"),
    ],
)
def test_the_worst_that_is_known_comes_first(told: TestHistory, word: str, sentence: str) -> None:
    assert history_words.state_word(told).word == word
    assert sentence in history_words.state_sentence(told, NOW)


def test_a_change_is_named_by_its_newest_run_and_long_lists_are_cut() -> None:
    mended = [outcome(9, Verdict.OK, True, pr=7), outcome(8, Verdict.REGRESSION, True, pr=7)]
    assert history_words.broken_by(mended) == ()
    many = history(*(outcome(9, Verdict.REGRESSION, True, pr=number) for number in range(1, 6)))
    assert "broken by #1, #2, #3 and 2 more." in history_words.state_sentence(many, NOW)


def test_a_rate_has_its_counts() -> None:
    assert history_words.flake_sentence(history(GOOD, disagreements=1).flakes) == (
        "Both fine and failing on 1 of 2 commits (3 attempts in 2 runs)."
    )
    none = FlakeRate(test="t", device="spyre", runs=0, attempts=0, commits=0, disagreements=0)
    assert history_words.flake_sentence(none) == "No attempt is on record."


def test_a_command_holds_no_text_of_upstream_unquoted() -> None:
    assert history_words.why_command("$(x)", 3) == "relay why '$(x)' --change 3"
    assert history_words.why_command("a::b", None) == "relay why a::b --change RUN"
