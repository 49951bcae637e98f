"""The words of a test's page: how it does on the branch, since when it fails, who broke it, how often it flakes.

Pure functions; the clock is an argument.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import datetime

from relay.manifests import ManifestSays
from relay.runs.verdicts import BREAKING
from relay.views import BranchFailure, FlakeRate, TestHistory, TestOutcome
from relay.web.sparkline import Sparkline
from relay.web.wording import Word, age, duration, number, verdict_word

_UNKNOWN = Word("?", "not known", "quiet", "no run tells how it does on the branch")
_FAILING = Word("✗", "failing", "bad", "fails on the branch, without any open change")
_FLAKY = Word("≈", "flaky", "warn", "was seen both to fail and to be fine on one commit")
_BROKEN = Word("!", "broken by a change", "warn", "is fine on the branch, and a change that is not merged breaks it")
_FINE = Word("✓", "fine", "good", "is fine on the branch")

#: Pull requests named in a sentence.
_NAMED = 3


def state_word(history: TestHistory) -> Word:
    """How the test does now, the worst that is known of it first."""
    if history.failing:
        return _FAILING
    if broken_by(history.outcomes):
        return _BROKEN
    if history.flakes.disagreements:
        return _FLAKY
    return _FINE if any(outcome.on_branch for outcome in history.outcomes) else _UNKNOWN


def state_sentence(history: TestHistory, now: datetime) -> str:
    """The same as a sentence with its counts."""
    if history.failing:
        return _failing_since(history.failing, now)
    telling = [outcome.on_branch for outcome in history.outcomes if outcome.on_branch is not None]
    if not telling:
        return "No run here tells how this test does on the branch."
    fine = f"Fine on the branch, in {number(sum(telling))} of the {number(len(telling))} runs that tell"
    broken = broken_by(history.outcomes)
    return f"{fine}; broken by {_names(broken)}." if broken else f"{fine}."


def _failing_since(failing: BranchFailure, now: datetime) -> str:
    since = f"Fails on the branch since {age(failing.first_bad.at, now)}"
    told = f"{number(failing.outcomes)} {'run tells' if failing.outcomes == 1 else 'runs tell'} so"
    if failing.last_good is None:
        return f"{since} or longer: {told}, and none that was looked at saw it fine."
    return f"{since}: {told}, after run {failing.last_good.run_id} saw it fine."


def broken_by(outcomes: Sequence[TestOutcome]) -> tuple[TestOutcome, ...]:
    """Outcomes, newest first, of the pull requests whose newest run broke the test: one for each."""
    newest: dict[tuple[str, int], TestOutcome] = {}
    for outcome in outcomes:
        if outcome.pr_number is not None and outcome.verdict is not None:
            newest.setdefault((outcome.repo, outcome.pr_number), outcome)
    return tuple(outcome for outcome in newest.values() if outcome.verdict in BREAKING)


def _names(broken: Sequence[TestOutcome]) -> str:
    named = ", ".join(f"#{outcome.pr_number}" for outcome in broken[:_NAMED])
    rest = len(broken) - _NAMED
    return f"{named} and {rest} more" if rest > 0 else named


def flake_sentence(flakes: FlakeRate) -> str:
    """A rate with its counts."""
    if not flakes.commits:
        return "No attempt is on record."
    seen = f"{number(flakes.attempts)} attempts in {number(flakes.runs)} runs"
    commits = f"{number(flakes.disagreements)} of {number(flakes.commits)} commits"
    return f"Both fine and failing on {commits} ({seen})."


def outcome_label(outcome: TestOutcome, now: datetime) -> str:
    """A cell of the strip in words: `run 7, regression, #12, 3 h ago`."""
    change = f"#{outcome.pr_number}" if outcome.pr_number is not None else outcome.head_sha[:10]
    word = verdict_word(outcome.verdict).word
    return f"run {outcome.run_id}: {word}, {change}, {age(outcome.at, now)}"


def branch_phrase(on_branch: bool | None) -> str:
    """What an outcome says of the branch."""
    return {True: "fine", False: "failing", None: "tells nothing"}[on_branch]


def owner_sentence(says: ManifestSays | None) -> str:
    """Who answers for the test by the manifest."""
    if says is None:
        return "No manifests are in use."
    return says.owner or "The entry names no owner; add `owner` to it."


def durations_sentence(line: Sparkline) -> str:
    """What the line of durations shows, for those who do not see it."""
    return (
        f"{duration(line.least)} to {duration(line.most)} in {number(line.count)} runs, "
        f"median {duration(line.middle)}, last {duration(line.last)}"
    )


def why_command(test_id: str, run: int | None) -> str:
    """What to type to see why a test ran, or not. The id is upstream's text, so it is quoted for a shell."""
    return f"relay why {shlex.quote(test_id)} --change {run or 'RUN'}"
