"""Every word and every form of a number that the pages show: glyphs, labels, sentences, durations, ages.

A state is never told by colour alone: each has a glyph and a word. Pure functions; the clock is an argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from relay.audit_views import AuditOutcome, AuditState, AuditView
from relay.contract import Decision, Expected, Observation, TestedOn
from relay.runs.queries import BY_WEIGHT
from relay.store.models import ShardState
from relay.views import Conclusion, PlanView, RunState, RunSummary, Verdict, WeakSandbox


@dataclass(frozen=True, slots=True)
class Word:
    """How a state is shown. `tone` names a colour of the style sheet: good, bad, warn, quiet or busy."""

    glyph: str
    word: str
    tone: str
    meaning: str
    many: str = ""

    def counted(self, count: int) -> str:
        """`1 crash`, `2 crashes`."""
        return f"{number(count)} {self.word if count == 1 else self.many or self.word}"


VERDICT_WORDS: Mapping[Verdict, Word] = {
    Verdict.REGRESSION: Word("✗", "regression", "bad", "fails with the change and passes without it", "regressions"),
    Verdict.CRASH: Word("‼", "crash", "bad", "ended the test process", "crashes"),
    Verdict.TIMEOUT: Word("◔", "timeout", "bad", "did not end in its time", "timeouts"),
    Verdict.MISSING: Word("?", "missing", "bad", "was planned and could not be found when it was to run"),
    Verdict.FLAKY: Word("≈", "flaky", "warn", "was seen both to fail and to be fine, on the same commit"),
    Verdict.KNOWN_FAILURE: Word(
        "=", "known failure", "quiet", "fails without the change too, or is expected to fail", "known failures"
    ),
    Verdict.XPASS: Word(
        "↑", "unexpected pass", "warn", "passes although the manifest expects a failure", "unexpected passes"
    ),
    Verdict.FIXED: Word("★", "fixed", "good", "failed before and passes with the change"),
    Verdict.UNSUPPORTED: Word(
        "∅", "unsupported", "quiet", "the device refuses it by a named rule, with and without it"
    ),
    Verdict.INFRA: Word("⚙", "no answer", "warn", "the service lost the work; this says nothing about the change"),
    Verdict.OK: Word("✓", "ok", "good", "did what the manifest expects"),
}
WAITING = Word("…", "waiting", "busy", "planned and not reported yet")

CONCLUSION_WORDS: Mapping[Conclusion, Word] = {
    Conclusion.SUCCESS: Word("✓", "success", "good", "nothing breaks with this change"),
    Conclusion.FAILURE: Word("✗", "failure", "bad", "at least one test breaks with this change"),
    Conclusion.NEUTRAL: Word("○", "neutral", "quiet", "there is no answer about this change"),
}

STATE_WORDS: Mapping[RunState, Word] = {
    RunState.RECEIVED: Word("…", "received", "busy", "Waiting for a worker"),
    RunState.SELECTING: Word("▸", "selecting", "busy", "Choosing tests"),
    RunState.PLANNED: Word("▸", "planned", "busy", "Waiting for a worker to run the tests"),
    RunState.RUNNING: Word("▶", "running", "busy", "Running the tests"),
    RunState.FINISHED: Word("✓", "finished", "quiet", "over"),
    RunState.CANCELLED: Word("⊘", "cancelled", "quiet", "stopped before its end"),
    RunState.FAILED: Word("⚙", "failed", "warn", "the service could not finish it; the change is not to blame"),
}

SHARD_WORDS: Mapping[ShardState, Word] = {
    ShardState.DUE: Word("…", "due", "busy", "waits for a worker"),
    ShardState.LEASED: Word("▶", "at work", "busy", "a worker has it"),
    ShardState.DONE: Word("✓", "done", "good", "all its work is in"),
    ShardState.LOST: Word("⚙", "lost", "warn", "ended without its work"),
}

EXPECTED_WORDS: Mapping[Expected, str] = {
    Expected.MANDATORY_SUCCESS: "to pass",
    Expected.XFAIL: "to fail (a pass is only noted)",
    Expected.XFAIL_STRICT: "to fail (a pass breaks the run)",
}

OBSERVATION_WORDS: Mapping[Observation, str] = {
    Observation.PASSED: "✓ passed",
    Observation.FAILED: "✗ failed",
    Observation.SKIPPED: "↷ skipped",
    Observation.CRASHED: "‼ crashed",
    Observation.TIMED_OUT: "◔ timed out",
    Observation.MISSING: "? missing",
}

_AUDIT_STATES = {
    AuditState.RUNNING: "still running; ",
    AuditState.CONFIRMING: "asking whose change it was; ",
    AuditState.SETTLED: "",
    AuditState.CALLED_OFF: "called off; ",
}

#: As much of a plan's key as tells plans apart by eye.
_KEY_SHOWN = 12

_STAGES = {1: "change", 2: "ownership", 3: "triage", 4: "manifests"}

_SELECTION_SENTENCES = {
    "selected": "Four stages, each with its own reasons.",
    "nothing_affected": "The stages found no test that this change can affect.",
    "none_admitted": "Tests are affected, and the manifests let none of them run on this device.",
    "full": "Everything was asked for: every test that the manifests admit.",
    "widened": "A stage could not answer safely, so the fallback set was taken: more tests than needed, not fewer.",
}


def run_word(run: RunSummary) -> Word:
    """The conclusion where there is one, else the state."""
    return CONCLUSION_WORDS[run.conclusion] if run.conclusion else STATE_WORDS[run.state]


def verdict_word(verdict: Verdict | None) -> Word:
    """Nothing reported yet is `waiting`."""
    return WAITING if verdict is None else VERDICT_WORDS[verdict]


def shard_word(state: str) -> Word:
    """For the plain text in which a view carries the state."""
    return SHARD_WORDS[ShardState(state)]


def stage_name(stage: int) -> str:
    """The one word for a stage of the selection."""
    return _STAGES[stage]


def selection_sentence(state: str) -> str:
    """What the way the selection ended means; a state this version does not know is shown as it is."""
    return _SELECTION_SENTENCES.get(state, state)


def plan_sentence(plan: PlanView) -> str:
    """What a plan costs and risks, in one line: `about 12 min instead of 3 h 10 min; ...`."""
    whole = plan.expected_seconds + plan.seconds_saved
    if not whole:
        return f"plan {plan.key[:_KEY_SHOWN]}"
    instead = f" instead of {duration(whole)}" if plan.seconds_saved else ""
    return (
        f"about {duration(plan.expected_seconds)} of tests{instead}; "
        f"expected missed failures {plan.expected_misses:.2f}; plan {plan.key[:_KEY_SHOWN]}"
    )


def audit_sentence(audit: AuditView) -> str:
    """What an audit found, in one line; an alarm comes first."""
    missed = sum(test.outcome is AuditOutcome.MISSED for test in audit.tests)
    found = f"{number(len(audit.tests))} newly broken, {number(missed)} missed by a selection"
    rate = audit.false_green_rate
    share = "" if rate is None else f", {rate:.1%} false green"
    alarm = "✗ a selection missed a break: " if missed else ""
    return f"{alarm}{_AUDIT_STATES[audit.state]}{found}{share}"


def last_word(decision: Decision) -> str:
    """In one line, what kept or dropped a test last."""
    if not decision.reasons:
        return ""
    reason = decision.reasons[-1]
    return f"stage {reason.stage} {stage_name(reason.stage)}: {reason.rule}"


def environment(tested: TestedOn) -> str:
    """The environment that answers for a run, in one line. The sandbox has words of its own."""
    sha = f" ({tested.torch_git_sha[:10]})" if tested.torch_git_sha else ""
    parts = [f"tested on {tested.name}", f"torch {tested.torch_version}{sha}"]
    parts += [f"Python {tested.python_version}"] if tested.python_version else []
    parts += [f"device profile {tested.device_profile}"] if tested.device_profile else []
    return ", ".join(parts)


def sandbox_word(tested: TestedOn) -> Word | None:
    """How test processes were confined; None when the worker did not say, and when it lacked something: then there are
    words for each worker."""
    if not tested.sandbox or tested.unconfined:
        return None
    return Word("▣", tested.sandbox, "good", "test processes were confined")


def weak_sandbox_word(weak: WeakSandbox) -> Word:
    """That a worker had no whole sandbox, so that nobody takes its results for more than they are."""
    lacking = "not in a sandbox" if weak.sandbox.partition(":")[0] == "none" else "not in a whole sandbox"
    return Word("⚠", lacking, "warn", "upstream's tests could reach more than they should")


def weak_sandbox_sentence(weak: WeakSandbox) -> str:
    """Whose it was and what it lacked: `w1, 2 shards: none: bubblewrap is not installed`."""
    shards = "1 shard" if weak.shards == 1 else f"{weak.shards} shards"
    return f"{weak.worker}, {shards}: {weak.sandbox}" if weak.worker else weak.sandbox


def no_results(run: RunSummary, live: bool) -> str:
    """Why the list of results is empty, and what to do about it."""
    if live:
        return "No test is planned yet. Results appear here as soon as workers report them."
    if run.state in (RunState.CANCELLED, RunState.FAILED):
        return f"The run ended before it planned a test. Ask again with: relay run rerun {run.id}"
    return "No test was planned, so there is no result. The funnel above says which stage left nothing over."


@dataclass(frozen=True, slots=True)
class NextStep:
    """A command worth copying, and what it is for."""

    purpose: str
    command: str


def announcement(run: RunSummary) -> str:
    """What a screen reader hears; it changes with the state and with every tenth of the tests."""
    if run.state is RunState.RUNNING and run.planned:
        return f"Running, {run.reported * 10 // run.planned * 10} % of the tests reported"
    return run.headline


def by_weight(verdicts: Mapping[Verdict, int]) -> list[tuple[Verdict, int]]:
    """Counts, worst verdict first, without zeros."""
    return [(verdict, verdicts[verdict]) for verdict in BY_WEIGHT if verdicts.get(verdict)]


def share_of(part: int, whole: int) -> float:
    """Percent for a bar: something is never drawn as nothing, and not everything never as everything."""
    if whole <= 0 or part <= 0:
        return 0
    return 100 if part >= whole else min(max(100 * part / whole, 1.5), 98.5)


def number(value: int) -> str:
    """With a thin space between thousands, which stays on one line."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def duration(seconds: float | None) -> str:
    """Two units at most: 0.3 s, 41 s, 2 min 5 s, 1 h 3 min."""
    if seconds is None:
        return "\N{EN DASH}"
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds >= 0.05 else f"{seconds * 1000:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def elapsed(run: RunSummary, now: datetime) -> str:
    """From the start of the work, or from its arrival, to its end or to now."""
    begin = run.started_at or run.created_at
    return duration(max(0.0, ((run.finished_at or now) - begin).total_seconds()))


def age(at: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(0, round((now - at).total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def iso(at: datetime) -> str:
    """For `<time datetime>`."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


def clock(at: datetime) -> str:
    """For people who want to know exactly."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def anchor(name: str) -> str:
    """A fragment for a test's name, which may hold anything."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]
