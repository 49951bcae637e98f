"""Every word of the pages about upgrades. Pure. What changed is called as in the report (`relay.upgrade.words`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from relay.upgrade import words as report_words
from relay.upgrade.document import OperatorPart, OutcomesPart
from relay.upgrade.views import DutyWord, OutcomeKind, TestChange, UpgradeSummary, UpgradeTestView, UpgradeView
from relay.views import RunSummary
from relay.web.wording import Word, number

DUTY_WORDS: Mapping[DutyWord, Word] = {
    DutyWord.MUST: Word("!", "must assess", "bad", "the manifests ask for the test, and upstream changed it"),
    DutyWord.SHOULD: Word("~", "should assess", "warn", "the manifests ask for the test, and what it tests changed"),
    DutyWord.NEW: Word("+", "new and ungoverned", "busy", "no entry of the manifests names the test yet"),
    DutyWord.NOTHING: Word("○", "nothing to do", "quiet", "unchanged, or not asked for by the manifests"),
}
_SENTENCES: Mapping[DutyWord, str] = {
    DutyWord.MUST: "The manifests ask for these tests, and upstream changed them: does the device still do what they "
    "ask? One look at a cause settles all of its tests.",
    DutyWord.SHOULD: "The manifests ask for these tests, and upstream changed what they test.",
    DutyWord.NEW: "No entry of the manifests names these tests yet. The mode is proposed from tests like them.",
    DutyWord.NOTHING: "These changed, and the manifests do not ask for them. Unchanged ones are counted, not listed.",
}
_NONE: Mapping[DutyWord, str] = {
    DutyWord.MUST: "No test that the manifests ask for was changed.",
    DutyWord.SHOULD: "Of no other test that the manifests ask for did the code under test change.",
    DutyWord.NEW: "Every test is named by an entry.",
    DutyWord.NOTHING: "No changed test is left over.",
}

OUTCOME_WORDS: Mapping[OutcomeKind, Word] = {
    OutcomeKind.BROKEN: Word("✗", "broken by upgrade", "bad", report_words.OUTCOMES[OutcomeKind.BROKEN]),
    OutcomeKind.MEANING: Word("!", "test changed meaning", "warn", report_words.OUTCOMES[OutcomeKind.MEANING]),
    OutcomeKind.FLAKY: Word("≈", "flaky", "warn", report_words.OUTCOMES[OutcomeKind.FLAKY]),
    OutcomeKind.FIXED: Word("★", "fixed by upgrade", "good", report_words.OUTCOMES[OutcomeKind.FIXED]),
    OutcomeKind.SAME: Word("=", "same", "quiet", "ended alike on both releases"),
}
MODEL = Word("✎", "a model's words", "warn", "written by a model; nothing is counted by it, and it may be wrong")


def title(upgrade: UpgradeSummary) -> str:
    """What a report is about."""
    return f"{upgrade.base} to {upgrade.head}"


def verdict(upgrade: UpgradeSummary) -> Word:
    """What the reader is here for, in a word."""
    must, should = (upgrade.duties.get(duty, 0) for duty in (DutyWord.MUST, DutyWord.SHOULD))
    if must:
        return Word("!", f"{number(must)} to assess", "bad", DUTY_WORDS[DutyWord.MUST].meaning)
    if should:
        return Word("~", f"{number(should)} to look at", "warn", DUTY_WORDS[DutyWord.SHOULD].meaning)
    return Word("✓", "nothing to assess", "good", "no test that the manifests ask for is touched by this upgrade")


def sentence(duty: DutyWord) -> str:
    """What is to be done about the tests of a list."""
    return _SENTENCES[duty]


def none(duty: DutyWord, *, filtered: bool) -> str:
    """Why a list is empty."""
    return "No test of this kind matches." if filtered else _NONE[duty]


def counts(upgrade: UpgradeSummary) -> str:
    """`3 body changed, 2 new, 40 unchanged`, of all tests."""
    told = [(change, upgrade.changes[change]) for change in TestChange if upgrade.changes.get(change)]
    return ", ".join(f"{number(count)} {change_word(change)}" for change, count in told) or "no tests"


def change_word(change: TestChange) -> str:
    """What became of a test."""
    return report_words.CHANGES[change]


def changed(test: UpgradeTestView) -> str:
    """All that became of a test, the strongest first."""
    return ", ".join(map(change_word, test.changes))


def operator(part: OperatorPart) -> str:
    """What differs of an operator's entry."""
    before, after = set(part.dtypes_before), set(part.dtypes_after)
    told = [change_word(part.change)] if part.change is not TestChange.BODY else [it.value for it in part.aspects]
    if part.change is not TestChange.REMOVED:
        told += [f"gained {' '.join(sorted(after - before))}"] if after - before else []
        told += [f"lost {' '.join(sorted(before - after))}"] if before - after else []
    return ", ".join(told)


def progress(run: RunSummary) -> str:
    """How far a run is."""
    return f"{number(run.reported)} of {tests(run.planned)} reported" if run.planned else "not planned yet"


def outcome_counts(found: OutcomesPart) -> str:
    """How many tests ended how, of those that ran on both releases."""
    counts = Counter(outcome.kind for outcome in found.outcomes)
    told = [f"{number(counts[kind])} {word.word}" for kind, word in OUTCOME_WORDS.items() if counts[kind]]
    told.append(f"{number(found.same)} ended alike")
    told += [f"{number(found.only_before)} ran on the older release alone"] if found.only_before else []
    told += [f"{number(found.only_after)} on the newer alone"] if found.only_after else []
    return ", ".join(told) + "."


def compared(view: UpgradeView) -> str:
    """What was compared, and how long it took."""
    total = sum(view.upgrade.changes.values())
    files = f"{number(view.files_before)} test {'file' if view.files_before == 1 else 'files'} before"
    took = f"; compared in {view.seconds:.1f} s" if view.seconds else ""
    return f"{files}, {number(view.files_after)} after; {tests(total)} in either{took}"


def more_causes(count: int) -> str:
    """How many smaller ones are in the fold."""
    return f"{number(count)} more, each of fewer tests" if count > 1 else "one more, of fewer tests"


def more_operators(shown: int, total: int) -> str:
    """How many of a list are not here."""
    return f"The first {number(shown)} of {number(total)}; the report as JSON has all of them."


def tests(count: int) -> str:
    """`1 test`, `12 tests`."""
    return f"{number(count)} {'test' if count == 1 else 'tests'}"
