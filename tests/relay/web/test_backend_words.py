"""A rate has its counts, a state its glyph and word, a verdict its reason."""

from __future__ import annotations

from typing import Any

import pytest

from relay.allowlist.types import Level
from relay.hud import wording as hud
from relay.hud.health import Health
from relay.hud.readiness import Change, Criterion, LevelStatus
from relay.hud.tabs import Tab
from relay.hud.wording import SEVERITY, Tone
from relay.web import backend_words as words
from tests.relay.hud.cells import cell

TONES = {"good", "bad", "warn", "busy", "quiet"}


def status(level: Level, change: Change | None, *met: bool | None, no_data: bool = False) -> LevelStatus:
    criteria = tuple(Criterion(f"target {number}", "x", "y", one) for number, one in enumerate(met))
    return LevelStatus("a/l2", level, change, no_data, 14, criteria)


def test_every_letter_tone_and_health_has_words() -> None:
    assert all(words.letter_word(letter) and words.letter_tone(letter) in TONES for letter in SEVERITY)
    assert {words.tone(tone) for tone in Tone} == TONES
    assert {words.health(found).tone for found in Health} == {"good", "bad", "quiet"}
    assert set(words.LEVEL_MEANINGS) == set(Level)
    assert set(words.TAB_WORDS) == set(Tab)


@pytest.mark.parametrize(
    ("part", "whole", "told"),
    [(19, 22, "86.4 % (19 of 22)"), (0, 3, "0.0 % (0 of 3)"), (0, 0, "none finished"), (1_200, 1_200, "100.0 %")],
)
def test_a_rate_is_never_without_its_counts(part: int, whole: int, told: str) -> None:
    assert words.counted_rate(part, whole).startswith(told)


@pytest.mark.parametrize(("rate", "word"), [(1.0, "good"), (0.95, "good"), (0.8, "fair"), (0.79, "poor")])
def test_the_list_is_milder_than_a_backends_own_page(rate: float, word: str) -> None:
    assert words.overview_rate(rate).word == word
    assert words.card_rate(rate).word in (word, "fair", "poor")
    assert words.card_rate(0.95).word == "fair"


@pytest.mark.parametrize(("rate", "word"), [(0.0, "good"), (0.005, "fair"), (0.01, "poor")])
def test_a_share_of_timeouts_is_judged_like_the_target(rate: float, word: str) -> None:
    assert words.excess(rate).word == word


def test_the_second_rate_is_told_only_where_it_is_another_one() -> None:
    row = {"successes": 3, "judged": 4, "total": 6}
    assert words.judged(row) == "75.0 % (3 of 4) without cancelled and skipped jobs"
    assert words.judged(row | {"total": 4}) == words.judged(row | {"judged": 0}) == ""


def test_a_level_is_told_by_its_targets() -> None:
    rising = status(Level.L2, Change.PROMOTE, True, True)
    falling = status(Level.L3, Change.DEMOTE, True, False)
    waiting = status(Level.L2, None, True, False, None)
    steady = status(Level.L3, None, True, None)
    silent = status(Level.L2, None, None, no_data=True)
    found = [words.readiness(one).word for one in (rising, falling, waiting, steady, silent)]
    assert found == ["ready for L3", "below L3", "1/3 targets", "1/2 targets", "no figures"]
    assert "it may rise" in words.readiness_sentence(rising)
    assert "misses: target 1" in words.readiness_sentence(falling)
    assert "target 1 is missed; target 2 has no data" in words.readiness_sentence(waiting)
    assert words.readiness_sentence(steady) == "No target of L3 is missed over 14 days."
    assert [words.criterion_word(one).word for one in waiting.criteria] == ["met", "missed", "no data"]


def test_what_the_relay_knows_beside_a_report_is_told() -> None:
    assert words.evidence(cell()) == ()
    known: dict[str, Any] = {"verified": False, "assumed": "it was silent", "mismatch": ["pr_number"]}
    told = " ".join(words.evidence(cell(**known)))
    for part in ("another result", "it was silent", "pr_number"):
        assert part in told
    assert words.evidence(cell(verified=True)) == ("GitHub bears the result out.",)


def test_a_cell_tells_state_attempt_duration_and_company() -> None:
    rows = [cell(conclusion="timed_out", run_attempt=2, duration_seconds=61), cell(duration_seconds=0)]
    assert words.cell_title("build", rows) == "build: timed out, attempt 2, 1 min 1 s, the worst of 2 jobs"
    assert words.cell_title("build", [cell(conclusion=None, duration_seconds=0)]) == "build: running"
    assert words.cell_heading("build", 7, "a" * 40) == "build for #7 at aaaaaaaaaa"
    assert words.cell_heading("build", 0, "") == "build of a commit that was not told"


@pytest.mark.parametrize(("status", "conclusion"), [("completed", ""), ("completed", "odd"), ("queued", ""), ("x", "")])
def test_every_state_that_a_backend_may_tell_is_a_badge(status: str, conclusion: str) -> None:
    word = words.job_word(status, conclusion)
    assert word.glyph == hud.letter(status, conclusion)
    assert word.word
    assert word.tone in TONES


def test_tests_are_told_where_the_backend_counted_them() -> None:
    counts = {"total_tests": 3, "passed_tests": 2, "failed_tests": 1}
    assert words.tests_sentence(counts) == "2 of 3 tests passed, 1 failed"
    assert words.tests_sentence(counts | {"total_tests": 0}) == ""


@pytest.mark.parametrize(
    ("problem", "in_force", "told"),
    [("It is away", False, "It is away."), ("Is it right?", True, "Is it right? The last good one is in force.")],
)
def test_a_problem_is_whole_sentences(problem: str, in_force: bool, told: str) -> None:
    assert words.allowlist_problem(problem, in_force=in_force) == told
