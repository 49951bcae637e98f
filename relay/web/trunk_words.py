"""Every word of the trunk's grid: what an outcome is called, and what is said about a cell. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.trunk_views import Outcome, TrunkResult
from relay.web.wording import Word, number

OUTCOME_WORDS: Mapping[Outcome, Word] = {
    Outcome.FAILED: Word("✗", "failed", "bad", "tests break on this commit"),
    Outcome.UNFINISHED: Word("⚙", "unfinished", "warn", "timed out, or the service lost the work"),
    Outcome.RUNNING: Word("▶", "running", "busy", "not over yet"),
    Outcome.CANCELLED: Word("⊘", "cancelled", "quiet", "stopped before its end"),
    Outcome.NO_ANSWER: Word("○", "no answer", "quiet", "ended without saying anything about this commit"),
    Outcome.PASSED: Word("✓", "passed", "good", "nothing breaks on this commit"),
    Outcome.SKIPPED: Word("↷", "skipped", "quiet", "did not have to run"),
}


def about(results: Sequence[TrunkResult]) -> str:
    """What a cell stands for, in words: every job with its outcome, what it broke, and how often it ran."""
    return "; ".join(_about(result) for result in results)


def _about(result: TrunkResult) -> str:
    parts = [f"{result.job.name} on {result.job.where}: {OUTCOME_WORDS[result.outcome].word}"]
    if result.broken:
        parts.append(f"{number(result.broken)} broken {'test' if result.broken == 1 else 'tests'}")
    if result.attempts > 1:
        parts.append(f"ran {number(result.attempts)} times")
    return ", ".join(parts)


def nothing_pushed(repo: str, older: bool) -> str:
    """Why the grid is empty, and what to do about it."""
    if older:
        return "No older push is on record."
    return (
        f"No push to the branch of {repo} is on record. Let the upstream repository send push events to the relay's "
        "webhook; every commit that is pushed then becomes a line here."
    )
