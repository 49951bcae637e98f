"""A run as JUnit XML: what a plain reader of JUnit concludes from it is what the relay concludes.

One `testcase` for each planned test, in a `testsuite` for each file; all that JUnit has no words for stands in
properties (`oot-manifests.md` 3.6, 7.6). Pure: from views to text, piece by piece. Nothing here reads the record.

A test that breaks the run is a `failure` (or an `error`, when it gave no assertion: crash, timeout, missing). One that
got no answer is an `error` as well: JUnit knows no "neutral", and unanswered is not green. What fails and is excused
(expected, known on base, refused by the device, flaky) is `skipped`, with the reason as its type.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from relay.contract import Attempt, Expected, Observation, Tree
from relay.runs.case_listing import Kind, KindCount
from relay.runs.verdicts import JudgedTest
from relay.views import RunDetail, TestView, Verdict

#: How pytest names a strict expectation that was not met; readers of its reports look for these words.
_STRICT_PASS = "[XPASS(strict)]"  # noqa: S105 - pytest's words, no secret
_MESSAGE_CAP = 300

# https://www.w3.org/TR/xml/#charsets
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: What a retry was for, in the words of torch-spyre's reports.
_RETRIED = {Observation.CRASHED: "signal", Observation.TIMED_OUT: "stall"}


class Outcome(StrEnum):
    """The four things JUnit knows."""

    PASSED = "passed"
    FAILURE = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


def outcome(kind: Kind) -> Outcome:
    """How a test counts for a plain reader."""
    if kind.verdict is None or kind.verdict is Verdict.INFRA:
        return Outcome.ERROR
    if JudgedTest(kind.expected, kind.verdict).breaks:
        return Outcome.FAILURE if kind.verdict in {Verdict.REGRESSION, Verdict.XPASS} else Outcome.ERROR
    return Outcome.PASSED if kind.observation is Observation.PASSED else Outcome.SKIPPED


@dataclass(slots=True)
class _Tally:
    """The counters of a suite."""

    tests: int = 0
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    seconds: float = 0.0

    def add(self, count: KindCount) -> None:
        seen = outcome(count.kind)
        self.tests += count.tests
        self.seconds += count.seconds
        self.failures += count.tests if seen is Outcome.FAILURE else 0
        self.errors += count.tests if seen is Outcome.ERROR else 0
        self.skipped += count.tests if seen is Outcome.SKIPPED else 0

    def attributes(self) -> str:
        return (
            f'tests="{self.tests}" failures="{self.failures}" errors="{self.errors}" skipped="{self.skipped}" '
            f'time="{self.seconds:.3f}"'
        )


def junit_report(detail: RunDetail, counts: Iterable[KindCount], tests: Iterable[TestView]) -> Iterator[str]:
    """The document, a piece for each test. `tests` must come file by file, and be those that `counts` counts."""
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    whole = _Tally()
    for count in counts:
        tallies[count.file].add(count)
        whole.add(count)
    run = detail.run
    started = (run.started_at or run.created_at).isoformat()
    yield f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="run {run.id}" {whole.attributes()}>\n'
    for file, found in groupby(tests, key=lambda test: test.file):
        name = _attribute(file)
        yield f'<testsuite name={name} timestamp="{started}" {tallies[file].attributes()}>\n{_about(detail)}'
        yield from map(_case, found)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _about(detail: RunDetail) -> str:
    """What a suite says of its run; readers of several reports tell them apart by it."""
    run, tested = detail.run, detail.tested_on
    facts = {"run": str(run.id), "device": run.device, "head": run.head_sha, "base": run.base_sha}
    facts |= {"conclusion": run.conclusion or run.state, "headline": run.headline}
    if tested:
        facts |= {"environment": tested.name, "torch": tested.torch_version, "profile": tested.device_profile}
        facts |= {"sandbox": tested.sandbox}
    weak = (f"{found.worker or 'a worker'}: {found.sandbox}" for found in detail.weak_sandboxes)
    facts |= {"weak_sandbox": "; ".join(weak)}
    return _properties((name, value) for name, value in facts.items() if value)


def _case(test: TestView) -> str:
    cls, method = map(_attribute, _names(test))
    place = f'classname={cls} name={method} file={_attribute(test.file)} time="{test.duration_s or 0.0:.3f}"'
    return f"<testcase {place}>{_properties(_facts(test))}{_problem(test)}</testcase>\n"


def _names(test: TestView) -> tuple[str, str]:
    """pytest's dotted class name and the method, which alone may hold `::` in its parameters."""
    rest = test.id.removeprefix(f"{test.file}::")
    plain, bracket, parameters = rest.partition("[")
    *classes, method = plain.split("::")
    module = test.file.removesuffix(".py").replace("/", ".")
    return ".".join([module, *classes]), f"{method}{bracket}{parameters}"


def _facts(test: TestView) -> Iterator[tuple[str, str]]:
    for tag in test.tags:
        yield "tag", tag
    yield "expectation", test.expected
    yield "observation", test.observation or ""
    yield "verdict", test.verdict or ""
    yield "reason", f"{test.rule} at {test.provenance}" if test.provenance else test.rule
    yield "base", test.base
    if test.op:
        yield "op", test.op
    if test.dtype:
        yield "dtype", test.dtype
    head = [attempt for attempt in test.attempts if attempt.tree is Tree.HEAD]
    base = [attempt for attempt in test.attempts if attempt.tree is Tree.BASE]
    if head:
        yield "attempt", str(head[-1].number)
    if retried := dict.fromkeys(_RETRIED[one.observation] for one in head[:-1] if one.observation in _RETRIED):
        yield "result.retried", ",".join(retried)
    if base:
        yield "observation.base", base[-1].observation
    for attempt in test.attempts if len(test.attempts) > 1 else ():
        yield f"attempt.{attempt.tree}.{attempt.number}", _told(attempt)


def _told(attempt: Attempt) -> str:
    return f"{attempt.observation} {attempt.duration_s:.3f}{' reused' if attempt.reused else ''}"


def _problem(test: TestView) -> str:
    """The element that says what is wrong, empty for a pass."""
    seen = outcome(Kind(test.expected, test.verdict, test.observation))
    if seen is Outcome.PASSED:
        return ""
    message = next(iter(test.detail.splitlines()), "") or str(test.verdict)
    if test.verdict is Verdict.XPASS:
        message = f"{_STRICT_PASS} {test.provenance}"
    elif test.verdict in {Verdict.CRASH, Verdict.TIMEOUT, Verdict.MISSING, Verdict.INFRA}:
        message = f"{test.verdict}: {message}"
    shown = f"type={_attribute(_type(test, seen))} message={_attribute(message[:_MESSAGE_CAP])}"
    return f"<{seen} {shown}>{_text(test.detail)}</{seen}>"


def _type(test: TestView, seen: Outcome) -> str:
    """pytest's own words for what pytest has words for."""
    if seen is Outcome.SKIPPED and test.observation is Observation.SKIPPED:
        return "pytest.skip"
    if test.verdict is Verdict.KNOWN_FAILURE and test.expected is not Expected.MANDATORY_SUCCESS:
        return "pytest.xfail"
    return f"relay.{test.verdict or 'unreported'}"


def _properties(facts: Iterable[tuple[str, str]]) -> str:
    told = "".join(f"<property name={_attribute(name)} value={_attribute(value)}/>" for name, value in facts)
    return f"<properties>{told}</properties>"


def _attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))


def _text(text: str) -> str:
    # A parser turns a bare carriage return into a line end.
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text), {"\r": "&#13;"})
