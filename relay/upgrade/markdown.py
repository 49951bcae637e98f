"""The report as a maintainer pastes it into the issue about an upgrade: GitHub's Markdown, of a size that it takes.

Names and sentences of a report come from strangers and stand in code, where they are no mention, no link and no markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from relay.comments.neutral import block, code, cut, size
from relay.upgrade import links, words
from relay.upgrade.grouping import Cause, causes_of, changes_by_file, notes_of, suggested_modes, with_duty
from selector.upgrade.types import Duty, Evidence, Finding, Origin, OutcomeKind, UpgradeReport

#: Bytes. GitHub takes 65,536 characters of an issue; the rest is for what is written around the report.
TEXT_CAP = 60_000
_CAUSES = 100
#: Causes with their evidence and first tests; the others have a line each.
_CAUSES_TOLD = 25
_TESTS_OF_A_CAUSE = 2
_LINES = 40
_NAMES = 12
_SUMMARY_CAP = 2_000


def to_markdown(report: UpgradeReport) -> str:
    """Funnel, what must and what should be assessed by cause, and counts of the rest. A section gets half of the room
    that is left; what has none is cut, and says so."""
    text = f"## {code(words.title(report))}\n\n{words.compared(report)}.\n"
    if counts := words.all_changes(changes_by_file(report)[0][1]):
        text += f"\n{counts}.\n"
    if address := links.comparison(report.origin):
        text += f"\n[{words.COMPARISON}]({address})\n"
    for name, lines in _sections(report):
        text += f"\n### {name}\n\n" + _fitting(lines(report), (TEXT_CAP - size(text)) // 2)
    return text


def _fitting(lines: Iterator[str], room: int) -> str:
    """As many lines as have room, in bytes."""
    text = ""
    for line in lines:
        if size(text) + size(line) > room:
            return f"{text}\n{words.cut_here()}\n"
        text += f"{line}\n"
    return text


_Lines = Callable[[UpgradeReport], Iterator[str]]


def _sections(report: UpgradeReport) -> Iterator[tuple[str, _Lines]]:
    """What has something to say, the most pressing first."""
    yield words.FUNNEL, _funnel
    if report.outcomes is not None:
        yield words.RESULTS, _outcomes
    if report.difference.tests:
        for duty, lines in ((Duty.MUST, _must), (Duty.SHOULD, _should), (Duty.NEW, _new)):
            yield _heading(report, duty), lines
    if report.operators.changes:
        yield words.numbered(words.OPERATORS, len(report.operators.changes)), _operators
    if report.variants:
        yield words.numbered(words.VARIANTS, len(report.variants)), _variants
    if report.summaries:
        yield words.SUMMARIES, _summaries
    if notes := notes_of(report):
        yield words.numbered(words.NOTES, len(notes)), _notes


def _heading(report: UpgradeReport, duty: Duty) -> str:
    findings = with_duty(report, duty)
    return words.duty(duty, len(findings), len(causes_of(findings)))


def _funnel(report: UpgradeReport) -> Iterator[str]:
    yield f"| {words.STEP} | {words.LEFT} | |"
    yield "|---|---:|---|"
    for step in report.funnel:
        summary = code(step.summary).replace("|", "\\|") if step.summary else ""
        yield f"| {code(step.name)} | {step.left:,} {code(step.unit)} | {summary} |"


def _outcomes(report: UpgradeReport) -> Iterator[str]:
    difference = report.outcomes
    if difference is None:
        return
    yield f"{words.outcomes(difference)}."
    for kind, meaning in words.OUTCOMES.items():
        if not (number := difference.count(kind)):
            continue
        yield f"\n**{kind.value.capitalize()} ({number:,})**: {meaning}\n"
        mark = "- [ ]" if kind in (OutcomeKind.BROKEN, OutcomeKind.MEANING) else "-"
        lines = (f"{mark} {code(it.id)}: {code(it.reason)}" for it in difference.outcomes if it.kind is kind)
        yield from _first(lines, number, "test")


def _must(report: UpgradeReport) -> Iterator[str]:
    yield from _by_cause(report, Duty.MUST, "- [ ]")


def _should(report: UpgradeReport) -> Iterator[str]:
    yield from _by_cause(report, Duty.SHOULD, "-")


def _by_cause(report: UpgradeReport, duty: Duty, mark: str) -> Iterator[str]:
    causes = causes_of(with_duty(report, duty))
    yield words.DUTIES[duty] if causes else words.nothing_of(duty)
    for number, cause in enumerate(causes[:_CAUSES]):
        if number <= _CAUSES_TOLD:
            yield ""
        yield f"{mark} **{code(cause.name)}** ({words.counted(len(cause.findings), 'test')})"
        if number < _CAUSES_TOLD:
            yield from _evidence(report.origin, cause)
            tests = (f"  - {_test(finding)}" for finding in cause.findings)
            yield from _first(tests, len(cause.findings), "test", _TESTS_OF_A_CAUSE, "  - ")
    if len(causes) > _CAUSES:
        yield f"\n{words.more(len(causes) - _CAUSES, 'group')}"


def _evidence(origin: Origin, cause: Cause) -> Iterator[str]:
    for evidence in cause.evidence[:1]:
        yield f"  - {words.CHANGES[evidence.kind]}: {code(evidence.text)}{_where(origin, evidence)}"


def _where(origin: Origin, evidence: Evidence) -> str:
    told = (("diff", links.hunk), ("before", links.before), ("after", links.after))
    found = [f"[{word}]({address})" for word, link in told if (address := link(origin, evidence))]
    if found:
        return f" ({', '.join(found)})"
    places = [code(links.spelt(place)) for place in (evidence.base, evidence.head) if place is not None]
    return f" ({' → '.join(dict.fromkeys(places))})" if places else ""


def _test(finding: Finding) -> str:
    entries = "; ".join(words.entry(governed) for governed in finding.governed[:2])
    told = f"{code(str(finding.changed.test))} {code(words.changed_how(finding.changed), 500)}"
    return f"{told} {code(entries)}" if entries else told


def _new(report: UpgradeReport) -> Iterator[str]:
    findings = with_duty(report, Duty.NEW)
    yield (
        f"{words.DUTIES[Duty.NEW]} {words.modes(suggested_modes(findings))}".rstrip()
        if findings
        else (words.nothing_of(Duty.NEW))
    )
    yield ""
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.changed.test.file, []).append(finding)
    largest = sorted(files.items(), key=lambda item: -len(item[1]))
    yield from _first(
        (f"- {code(file)}: {len(found):,}, {words.modes(suggested_modes(found))}" for file, found in largest),
        *(len(files), "file"),
    )


def _operators(report: UpgradeReport) -> Iterator[str]:
    """Entries by what differs, the rarest first: what happened to most is least to be looked at."""
    yield f"{words.entries(report.operators)}.\n"
    groups: dict[str, list[str]] = {}
    for change in report.operators.changes:
        groups.setdefault(words.operator(change), []).append(code(change.name))
    ordered = sorted(groups.items(), key=lambda item: len(item[1]))
    lines = (
        f"- {code(what)} ({len(names):,}): {', '.join(names[:_NAMES])}{', …' if len(names) > _NAMES else ''}"
        for what, names in ordered
    )
    yield from _first(lines, len(ordered), "kind")


def _variants(report: UpgradeReport) -> Iterator[str]:
    lines = (f"- {code(str(it.test))} for {code(it.op)}: {code(' '.join(it.dtypes))}" for it in report.variants)
    yield from _first(lines, len(report.variants), "line")


def _summaries(report: UpgradeReport) -> Iterator[str]:
    for summary in report.summaries:
        yield f"**{code(summary.area)}**. {words.by_model(code(summary.model))}\n"
        yield block(summary.text, _SUMMARY_CAP)


def _notes(report: UpgradeReport) -> Iterator[str]:
    notes = notes_of(report)
    yield from _first((f"- {code(cut(note, 300))}" for note in notes), len(notes), "note")


def _first(lines: Iterator[str], number: int, what: str, cap: int = _LINES, mark: str = "- ") -> Iterator[str]:
    """The first lines, and how many more there are."""
    yield from islice(lines, cap)
    if number > cap:
        yield f"{mark}{words.more(number - cap, what)}"
