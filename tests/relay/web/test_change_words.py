"""What a reader must know of a change is said with its counts, and what a backend says is shown as what it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from relay.change_views import BaseComparison, ChangeGroup
from relay.hud.pull_section import BackendBox, CommitJobs
from relay.hud.wording import Tone
from relay.views import Conclusion, RunState, RunSummary
from relay.web import change_words

NOTHING = dict.fromkeys(ChangeGroup, 0)
JOB: dict[str, Any] = {
    "status": "completed",
    "conclusion": "success",
    "queue_time": None,
    "execution_time": None,
    "duration_seconds": 0,
    "assumed": "",
    "verified": None,
    "mismatch": [],
}


def summary(state: RunState = RunState.FINISHED, number: int = 4) -> RunSummary:
    at = datetime(2026, 11, 2, tzinfo=UTC)
    return RunSummary(
        id=number,
        repo="a/b",
        pr_number=7,
        title="",
        base_sha="2" * 40,
        head_sha="1" * 40,
        device="spyre",
        trigger="webhook",
        attempt=1,
        rerun_of=None,
        state=state,
        conclusion=Conclusion.SUCCESS if state is RunState.FINISHED else None,
        headline="As it stands",
        planned=1,
        reported=1,
        verdicts={},
        created_at=at,
        started_at=at,
        finished_at=at,
        url="",
    )


@pytest.mark.parametrize(
    ("state", "counts", "word", "sentence"),
    [
        (RunState.RUNNING, {ChangeGroup.NEW: 1}, "running", "As it stands"),
        (RunState.CANCELLED, {ChangeGroup.NEW: 1}, "cancelled", "As it stands"),
        (RunState.FINISHED, {}, "neutral", "As it stands"),
        (
            RunState.FINISHED,
            {ChangeGroup.FINE: 1},
            "success",
            "Nothing breaks with this change on spyre: 1 of 1 test fine.",
        ),
        (
            RunState.FINISHED,
            {ChangeGroup.NEW: 1, ChangeGroup.FINE: 1},
            "failure",
            "This change breaks 1 test of 2 on spyre.",
        ),
        (
            RunState.FINISHED,
            {ChangeGroup.NO_ANSWER: 2, ChangeGroup.FINE: 3},
            "neutral",
            "No full answer, the service lost work: 3 of 5 tests fine; 2 without an answer.",
        ),
    ],
)
def test_the_verdict_is_a_word_and_a_sentence(
    state: RunState, counts: dict[ChangeGroup, int], word: str, sentence: str
) -> None:
    told = NOTHING | counts
    assert change_words.verdict_word(summary(state), told).word == word
    assert change_words.verdict_sentence(summary(state), told) == sentence


def test_runs_of_single_tests_are_told_while_they_run_and_after() -> None:
    ran, runs = summary(number=5), summary(RunState.RUNNING, 6)
    assert change_words.repeats_sentence([]) == ""
    assert change_words.repeats_sentence([runs]) == "Run 6 runs some of these tests again now."
    assert change_words.repeats_sentence([ran, ran, runs]).startswith("Counted with 2 runs of single tests again")


def test_a_command_is_quoted_and_only_given_when_it_would_be_taken() -> None:
    assert change_words.again_command(summary(), "a.py::T::t[x y]") == "relay run rerun 4 --test 'a.py::T::t[x y]'"
    assert change_words.again_command(summary(RunState.RUNNING), "a.py::T::t") == ""


def test_a_base_that_was_not_needed_is_said() -> None:
    assert "nothing to compare" in change_words.base_sentence(BaseComparison())
    assert change_words.base_sentence(BaseComparison(compared=1)).startswith("1 test ran on the base as well. ")


@pytest.mark.parametrize("tone", list(Tone))
def test_every_tone_of_a_box_has_a_glyph_and_a_word(tone: Tone) -> None:
    word = change_words.backend_word(BackendBox("a/b", "L2", tone, CommitJobs("1" * 40, ()), ()))
    assert word.glyph
    assert word.word


@pytest.mark.parametrize(
    ("known", "glyph", "word"),
    [
        ({}, "✓", "success"),
        ({"conclusion": "failure"}, "✗", "failure"),
        ({"conclusion": "timed_out"}, "!", "timed_out"),
        ({"conclusion": "odd"}, "○", "odd"),
        ({"status": "in_progress", "conclusion": ""}, "▶", "running"),
    ],
)
def test_a_job_is_called_as_it_ended(known: dict[str, Any], glyph: str, word: str) -> None:
    told = change_words.job_word(JOB | known)
    assert (told.glyph, told.word) == (glyph, word)


@pytest.mark.parametrize(
    ("known", "times"),
    [
        ({}, ""),
        ({"queue_time": 0.0}, "queued 0 ms"),
        ({"duration_seconds": 65}, "ran 1 min 5 s"),
        ({"queue_time": 5.0, "execution_time": 61.0, "duration_seconds": 65}, "queued 5.0 s, ran 1 min 1 s"),
    ],
)
def test_times_are_told_as_far_as_they_are_known(known: dict[str, Any], times: str) -> None:
    assert change_words.job_times(JOB | known) == times


def test_what_speaks_against_a_report_is_told_beside_it() -> None:
    assert change_words.job_remark(JOB) == ""
    assert change_words.job_remark(JOB | {"verified": True}) == ""
    doubtful = JOB | {"assumed": "silent", "verified": False, "mismatch": ["head_sha"]}
    assert change_words.job_remark(doubtful) == (
        "its end is only assumed; GitHub does not bear it out; it reported another head_sha than was dispatched"
    )
