"""The words of the pages about backends: levels, rates, letters, verdicts about a level. Pure.

What is good and what is not is decided by `relay.hud.wording`; here it gets a glyph and a word, for a colour alone
tells nothing to many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.allowlist.types import Level
from relay.hud import wording as hud
from relay.hud.health import Health
from relay.hud.readiness import Change, Criterion, LevelStatus
from relay.hud.tabs import Tab
from relay.hud.wording import Tone
from relay.web.wording import Word, duration, number

TAB_WORDS: Mapping[Tab, str] = {
    Tab.PULL_REQUEST: "Pull requests",
    Tab.NIGHTLY: "Nightly",
    Tab.PERIODIC: "Periodic",
}
DAY_WORDS: Sequence[tuple[int, str]] = ((1, "24 hours"), (7, "7 days"), (30, "30 days"))

LEVEL_MEANINGS: Mapping[Level, str] = {
    Level.L4: "shown on every pull request; a failure keeps a change from being merged",
    Level.L3: "shown on pull requests that ask for it by a label; blocks nothing",
    Level.L2: "reports its results; they are shown here only",
    Level.L1: "is told of changes; nothing is expected back",
}

_TONES: Mapping[Tone, str] = {
    Tone.INFO: "busy",
    Tone.SUCCESS: "good",
    Tone.ERROR: "bad",
    Tone.WARNING: "warn",
    Tone.DEFAULT: "quiet",
}
_RATE_WORDS: Mapping[Tone, tuple[str, str]] = {
    Tone.SUCCESS: ("✓", "good"),
    Tone.WARNING: ("≈", "fair"),
    Tone.ERROR: ("✗", "poor"),
}
_HEALTH_WORDS: Mapping[Health, Word] = {
    Health.HEALTHY: Word("✓", "healthy", "good", "every job of the probe ended as it was meant to"),
    Health.DEGRADED: Word("✗", "degraded", "bad", "a job of the probe did not end as it was meant to, or is overdue"),
    Health.NO_DATA: Word("○", "no data", "quiet", "the probe reported nothing"),
}
_CELL_WORDS: Mapping[str, str] = {
    "X": "failure",
    "T": "timed out",
    "C": "cancelled",
    "?": "running",
    "Q": "queued",
    "U": "another ending",
    "~": "no conclusion",
    "O": "success",
    "N": "neutral",
    "S": "skipped",
}
_CELL_TONES: Mapping[str, str] = {"X": "bad", "T": "warn", "C": "warn", "?": "busy", "Q": "busy", "O": "good"}

SILENT = Word("○", "no data", "quiet", "registered, and nothing was reported in this range")
STALE = Word("!", "stale", "warn", "a report is overdue: the newest one is older than its cadence allows")
UNLISTED = Word("?", "not listed", "warn", "it reports and is not in the allowlist")
PROPOSED = Word("↓", "lowering proposed", "warn", "a pull request that lowers its level is open upstream")


def allowlist_problem(problem: str, *, in_force: bool) -> str:
    """Why the newest allowlist is not the one in force."""
    sentence = problem if problem.endswith((".", "?")) else f"{problem}."
    return f"{sentence} The last good one is in force." if in_force else sentence


def tone(told: Tone) -> str:
    """The style sheet's name of a tone."""
    return _TONES.get(told, "quiet")


def overview_rate(rate: float) -> Word:
    """How a pass rate does in the list of all backends."""
    return _rated(hud.pass_rate_tone(rate), "of all finished jobs; good from 95 %, fair from 80 %")


def card_rate(rate: float) -> Word:
    """How a pass rate does on a backend's own page."""
    return _rated(hud.card_pass_rate_tone(rate), "of all finished jobs; good at 100 %, fair from 90 %")


def excess(rate: float) -> Word:
    """How a share of jobs that timed out or overran does."""
    return _rated(hud.excess_tone(rate), "good at none, poor from 1 %")


def _rated(told: Tone, meaning: str) -> Word:
    glyph, word = _RATE_WORDS[told]
    return Word(glyph, word, tone(told), meaning)


def health(found: Health) -> Word:
    """What the probe says of the relay."""
    return _HEALTH_WORDS[found]


def counted_rate(part: int, whole: int) -> str:
    """A rate with its counts: `86.4 % (19 of 22)`; without a whole there is no rate."""
    return f"{hud.percent(part / whole)} ({number(part)} of {number(whole)})" if whole else "none finished"


def share(rate: float, whole: int) -> str:
    """A rate whose counts are not known here."""
    return hud.percent(rate) if whole else "none finished"


def judged(row: Mapping[str, Any]) -> str:
    """The rate among jobs that came to a verdict, where that is another one."""
    if row["judged"] in (0, row["total"]):
        return ""
    return f"{counted_rate(row['successes'], row['judged'])} without cancelled and skipped jobs"


def spread(p50_s: float | None, p95_s: float | None) -> str:
    """Middle and slow end."""
    return "nothing told" if p50_s is None else f"P50 {duration(p50_s)}, P95 {duration(p95_s)}"


def letter_word(letter: str) -> str:
    """What a letter of the matrix stands for."""
    return _CELL_WORDS[letter]


def letter_tone(letter: str) -> str:
    """How a letter of the matrix is coloured."""
    return _CELL_TONES.get(letter, "quiet")


def job_word(status: str, conclusion: str) -> Word:
    """The state of one job, as a badge."""
    letter, label = hud.letter(status, conclusion), hud.conclusion_label(status, conclusion)
    return Word(letter, label.replace("_", " "), letter_tone(letter), _CELL_WORDS[letter])


def criterion_word(criterion: Criterion) -> Word:
    """Whether a target of L3 is met."""
    if criterion.met is None:
        return Word("○", "no data", "quiet", "there is nothing to measure, which moves nobody")
    if criterion.met:
        return Word("✓", "met", "good", "within the target")
    return Word("✗", "missed", "bad", "outside of the target")


def readiness(status: LevelStatus) -> Word:
    """Where a backend of L2 or L3 stands, in a badge."""
    met = sum(criterion.met is True for criterion in status.criteria)
    counted = f"{met} of {len(status.criteria)} targets"
    if status.change is Change.PROMOTE:
        return Word("↑", "ready for L3", "good", f"{counted} are met; people decide")
    if status.change is Change.DEMOTE:
        return Word("↓", "below L3", "bad", f"{counted} are met; people decide")
    if status.no_data:
        return Word("○", "no figures", "quiet", f"no job finished in the last {status.window_days} days")
    steady = status.level is Level.L3
    return Word("✓" if steady else "…", f"{met}/{len(status.criteria)} targets", "quiet", f"{counted} of L3 are met")


def readiness_sentence(status: LevelStatus) -> str:
    """What the targets say, in one sentence."""
    days, missed = status.window_days, [one.criterion for one in status.criteria if one.met is False]
    unknown = [one.criterion for one in status.criteria if one.met is None]
    if status.change is Change.PROMOTE:
        return f"Every target of L3 is met over {days} days: it may rise. A person opens the pull request."
    if status.change is Change.DEMOTE:
        return f"Over {days} days it misses: {', '.join(missed)}. That calls for L2; a person decides."
    if status.level is Level.L3:
        return f"No target of L3 is missed over {days} days."
    open_ones = [*(f"{name} is missed" for name in missed), *(f"{name} has no data" for name in unknown)]
    return f"Not ready for L3, measured over {days} days: {'; '.join(open_ones)}."


def tests_sentence(row: Mapping[str, Any]) -> str:
    """How many tests of a job passed, where it told."""
    if not row["total_tests"]:
        return ""
    failed = f", {number(row['failed_tests'])} failed" if row["failed_tests"] else ""
    return f"{number(row['passed_tests'])} of {number(row['total_tests'])} tests passed{failed}"


def evidence(row: Mapping[str, Any]) -> tuple[str, ...]:
    """What the relay itself knows of a job's report, one sentence each."""
    told = []
    if row.get("verified") is True:
        told.append("GitHub bears the result out.")
    if row.get("verified") is False:
        told.append("GitHub tells another result than the backend did.")
    if row.get("assumed"):
        told.append(f"The backend never told the end; it is only assumed: {row['assumed']}.")
    if row.get("mismatch"):
        told.append("Its report differs from what was dispatched: " + ", ".join(map(str, row["mismatch"])) + ".")
    return tuple(told)


def older_commits(count: int) -> str:
    """The link to a pull request's history."""
    return f"{number(count)} older {'commit' if count == 1 else 'commits'}"


def cell_title(label: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """What a cell says when a pointer rests on it: its worst job, and how many others there are."""
    row = rows[0]
    parts = [f"{label}: {hud.conclusion_label(row['status'], row['conclusion']).replace('_', ' ')}"]
    if row["run_attempt"] > 1:
        parts.append(f"attempt {row['run_attempt']}")
    if row["duration_seconds"]:
        parts.append(duration(row["duration_seconds"]))
    if len(rows) > 1:
        parts.append(f"the worst of {len(rows)} jobs")
    return ", ".join(parts)


def cell_heading(label: str, pr_number: int, sha: str) -> str:
    """Which jobs are told below the matrix."""
    commit = f"at {sha[:10]}" if sha else "of a commit that was not told"
    return f"{label} {f'for #{pr_number} ' if pr_number else ''}{commit}"


def no_jobs(tab: Tab, days: int) -> str:
    """Why the matrix is empty, and what to do about it."""
    kind = "scheduled run" if tab.scheduled else "pull request"
    span = dict(DAY_WORDS)[days]
    return f"Nothing was reported for a {kind} in the last {span}. A longer range may show older jobs."
