"""The words of a change's page: the verdict in a sentence, the groups of tests, the comparison with base, backends.

Pure functions.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from relay.change_views import BaseComparison, ChangeGroup
from relay.hud.pull_section import BackendBox
from relay.hud.wording import Tone, conclusion_label, conclusion_tone
from relay.runs.device_verdicts import DeviceVerdict
from relay.runs.states import FINAL_RUN_STATES
from relay.views import Conclusion, RunState, RunSummary
from relay.web.wording import CONCLUSION_WORDS, STATE_WORDS, WAITING, Word, duration, number

GROUP_WORDS: Mapping[ChangeGroup, Word] = {
    ChangeGroup.NEW: Word("✗", "new", "bad", "break with this change and do not without it"),
    ChangeGroup.FLAKY: Word("≈", "flaky", "warn", "were seen both to fail and to be fine, on the same commit"),
    ChangeGroup.FIXED: Word("★", "fixed", "good", "failed before, or were expected to, and pass with this change"),
    ChangeGroup.KNOWN: Word("=", "known", "quiet", "fail without this change too, or are expected to fail"),
    ChangeGroup.NO_ANSWER: Word(
        "⚙", "without an answer", "warn", "the service lost the work; this says nothing about the change"
    ),
    ChangeGroup.WAITING: WAITING,
    ChangeGroup.FINE: Word("✓", "fine", "good", "did what the manifest expects"),
}

_TONES: Mapping[Tone, Word] = {
    Tone.ERROR: Word("✗", "failed", "bad", "a job failed on the newest commit"),
    Tone.WARNING: Word("▶", "running", "busy", "a job still runs on the newest commit"),
    Tone.SUCCESS: Word("✓", "passed", "good", "all jobs on the newest commit are fine"),
    Tone.DEFAULT: Word("○", "nothing yet", "quiet", "the backend has said nothing about the newest commit"),
    Tone.INFO: Word("▶", "running", "busy", "still runs"),
}
_JOB_TONES = {
    Tone.ERROR: ("✗", "bad"),
    Tone.WARNING: ("!", "warn"),
    Tone.SUCCESS: ("✓", "good"),
    Tone.INFO: ("▶", "busy"),
    Tone.DEFAULT: ("○", "quiet"),
}
_CALLED_OFF = (RunState.CANCELLED, RunState.FAILED)
_WORST_FIRST = ("bad", "busy", "warn", "quiet", "good")


def verdict_word(run: RunSummary, counts: Mapping[ChangeGroup, int]) -> Word:
    """What the change's newest head has come to: the state while it runs, then the conclusion, with what was run again
    counted in."""
    if run.state not in FINAL_RUN_STATES or run.state in _CALLED_OFF:
        return STATE_WORDS[run.state]
    if counts[ChangeGroup.NEW]:
        return CONCLUSION_WORDS[Conclusion.FAILURE]
    unanswered = counts[ChangeGroup.NO_ANSWER] + counts[ChangeGroup.WAITING]
    if unanswered or not sum(counts.values()):
        return CONCLUSION_WORDS[Conclusion.NEUTRAL]
    return CONCLUSION_WORDS[Conclusion.SUCCESS]


def verdict_sentence(run: RunSummary, counts: Mapping[ChangeGroup, int]) -> str:
    """Is it broken, and is it mine, in one sentence with counts."""
    total = sum(counts.values())
    if run.state not in FINAL_RUN_STATES or run.state in _CALLED_OFF or not total:
        return run.headline
    rest = _rest(counts)
    if new := counts[ChangeGroup.NEW]:
        return f"This change breaks {_tests(new)} of {number(total)} on {run.device}{rest}."
    fine = f"{number(counts[ChangeGroup.FINE])} of {_tests(total)} fine{rest}."
    if counts[ChangeGroup.NO_ANSWER]:
        return f"No full answer, the service lost work: {fine}"
    return f"Nothing breaks with this change on {run.device}: {fine}"


def devices_sentence(verdicts: Sequence[DeviceVerdict]) -> str:
    """What the change has come to on several devices, each in a few words."""
    return "; ".join(f"{one.device}: {_in_short(one)}" for one in verdicts)


def _in_short(verdict: DeviceVerdict) -> str:
    run, counts = verdict.run, verdict.counts
    if run.state not in FINAL_RUN_STATES:
        return "no answer yet"
    total = sum(counts.values())
    if run.state in _CALLED_OFF or not total:
        return run.headline[:1].lower() + run.headline[1:]
    if new := counts[ChangeGroup.NEW]:
        return f"{_tests(new)} of {number(total)} broken"
    if counts[ChangeGroup.NO_ANSWER] or counts[ChangeGroup.WAITING]:
        return "no full answer"
    return f"nothing breaks of {_tests(total)}"


def worst_word(words: Sequence[Word]) -> Word:
    """The one of several verdicts that a reader has to know first."""
    return min(words, key=lambda word: _WORST_FIRST.index(word.tone))


def _rest(counts: Mapping[ChangeGroup, int]) -> str:
    named = (
        (ChangeGroup.KNOWN, "known to fail"),
        (ChangeGroup.FLAKY, "flaky"),
        (ChangeGroup.FIXED, "fixed"),
        (ChangeGroup.NO_ANSWER, "without an answer"),
    )
    told = [f"{number(counts[group])} {words}" for group, words in named if counts[group]]
    return f"; {', '.join(told)}" if told else ""


def _tests(count: int) -> str:
    return f"{number(count)} {'test' if count == 1 else 'tests'}"


def repeats_sentence(repeats: Sequence[RunSummary]) -> str:
    """That more than one run stands behind the answer, or will."""
    if not repeats:
        return ""
    ran = [run for run in repeats if run.state in FINAL_RUN_STATES]
    again = f"{number(len(ran))} {'run' if len(ran) == 1 else 'runs'}"
    counted = f"Counted with {again} of single tests again: the newest answer about a test stands." if ran else ""
    now = [f"Run {run.id} runs some of these tests again now." for run in repeats if run not in ran]
    return " ".join([counted, *now]).strip()


def again_command(run: RunSummary, test_id: str) -> str:
    """What to type to run one test again; nothing while the run is not over, for then it is refused. The id is text of
    upstream, so it is quoted for a shell."""
    return f"relay run rerun {run.id} --test {shlex.quote(test_id)}" if run.state in FINAL_RUN_STATES else ""


def base_sentence(compared: BaseComparison) -> str:
    """What running on the base as well has shown, in one line."""
    if not compared.compared:
        return "No test had to run on the base: where nothing fails there is nothing to compare."
    known = f", {number(compared.reused)} of them known from an earlier run of the same base" if compared.reused else ""
    return f"{_tests(compared.compared)} ran on the base as well{known}. The others needed no look there."


def backend_word(box: BackendBox) -> Word:
    """How a backend's newest commit looks."""
    return _TONES[box.tone]


def job_word(job: Mapping[str, Any]) -> Word:
    """How one job of a backend ended, or that it runs."""
    glyph, tone = _JOB_TONES[conclusion_tone(job["status"], job["conclusion"])]
    return Word(glyph, conclusion_label(job["status"], job["conclusion"]), tone, "as the backend reported it")


def job_times(job: Mapping[str, Any]) -> str:
    """How long a job waited and ran, as far as that is known."""
    queued, ran = job["queue_time"], job["execution_time"] or job["duration_seconds"]
    told = [f"queued {duration(queued)}"] if queued is not None else []
    return ", ".join([*told, f"ran {duration(ran)}"] if ran else told)


def job_remark(job: Mapping[str, Any]) -> str:
    """What a reader should know before trusting a job's report; empty when there is nothing."""
    told = ["its end is only assumed"] if job["assumed"] else []
    told += ["GitHub does not bear it out"] if job["verified"] is False else []
    told += [f"it reported another {', '.join(job['mismatch'])} than was dispatched"] if job["mismatch"] else []
    return "; ".join(told)
