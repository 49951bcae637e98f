"""Every word of the page about the quality of selections: its sentence, its rates with their counts, and its charts.

Pure: made of the figures alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from relay.quality_views import AuditFigures, DayFigures, QualityView
from relay.views import Conclusion
from relay.web.charts import Chart, Figure, bar_chart, line_chart
from relay.web.wording import CONCLUSION_WORDS, Word, duration, number

_UNITS = (("h", 3_600), ("min", 60))


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of the page: what it is called, how it stands, and what it means."""

    name: str
    value: str
    meaning: str


def share(part: int, whole: int) -> str:
    """A rate with its counts: `19 of 22 (86.4 %)`."""
    return f"{number(part)} of {number(whole)} ({percent(part / whole)})" if whole else "none yet"


def percent(rate: float) -> str:
    """To a tenth; something is never written as nothing, and not everything never as everything."""
    shown = round(100 * rate, 1)
    if shown == 0 < rate:
        return "under 0.1 %"
    return "over 99.9 %" if shown == 100 and rate < 1 else f"{shown:g} %"


def headline(view: QualityView) -> tuple[Word, str]:
    """What the audits say of the selections, in one sentence."""
    if not view.audits:
        return CONCLUSION_WORDS[Conclusion.NEUTRAL], f"No audit was settled in the last {view.days} days."
    broken, missed = _total(view.audits, "broken"), _total(view.audits, "missed")
    unexplained = broken - missed - _total(view.audits, "caught")
    found = f"{number(len(view.audits))} {'audit' if len(view.audits) == 1 else 'audits'} found"
    if not broken:
        return CONCLUSION_WORDS[Conclusion.SUCCESS], f"{found} no newly broken test."
    tests = f"{number(broken)} newly broken {'test' if broken == 1 else 'tests'}"
    rest = f" Of {number(unexplained)}, no single change is known to be the cause." if unexplained else ""
    if missed:
        word = Word("✗", "missed", "bad", "a selection left out a test that its change broke")
        return word, f"{found} {tests}; selections had missed {number(missed)}.{rest}"
    if unexplained == broken:
        return CONCLUSION_WORDS[Conclusion.NEUTRAL], f"{found} {tests}; no single change is known to be the cause."
    return CONCLUSION_WORDS[Conclusion.SUCCESS], f"{found} {tests}; no selection is known to have missed one.{rest}"


def facts(view: QualityView) -> tuple[Fact, ...]:
    """The figures on top of the page."""
    broken, caught = _total(view.audits, "broken"), _total(view.audits, "caught")
    missed = _total(view.audits, "missed")
    spent = sum(one.expected_seconds for one in view.selections)
    saved = sum(one.seconds_saved for one in view.selections)
    rate = saved / (spent + saved) if spent + saved else None
    return (
        Fact("Recall", share(caught, caught + missed), "of the broken tests whose change is known, those that it ran"),
        Fact("False green", share(missed, broken), "of all newly broken tests, those that a selection left out"),
        Fact(
            "Missed by lot",
            share(view.lot.missed, view.lot.drawn),
            "of the left-out tests that ran by lot",
        ),
        Fact(
            "Left out",
            "none yet" if rate is None else f"{percent(rate)} of {duration(spent + saved)}",
            "of the seconds that all tests would have taken",
        ),
        Fact("Time saved", duration(saved) if saved else "none yet", "of tests, on one machine"),
    )


def recall_chart(view: QualityView) -> Chart:
    """Recall audit by audit; where a test was missed there is a cross."""
    figures = [Figure(one.at.date(), one.recall, _recall(one), bad=one.missed > 0) for one in view.audits]
    rated = [one for one in figures if one.value is not None]
    return line_chart(_label("Recall of each audit", rated, percent), rated, _whole_percent, top=1.0)


def reduction_chart(view: QualityView) -> Chart:
    """The share of time that was left out, day by day."""
    figures = [Figure(_day(one), one.reduction, _reduction(one)) for one in view.selections]
    label = _label("Share of the time that was left out on each day", figures, percent)
    return line_chart(label, figures, _whole_percent, top=1.0)


def saving_chart(view: QualityView) -> Chart:
    """Seconds saved, day by day."""
    figures = [Figure(_day(one), one.seconds_saved, _saving(one)) for one in view.selections]
    largest = max((one.seconds_saved for one in view.selections), default=0.0)
    unit = next((size for _, size in _UNITS if largest >= size), 1)
    return bar_chart(_label("Time saved on each day", figures, duration), figures, _short_duration, unit=unit)


def _recall(one: AuditFigures) -> str:
    return f"{one.at:%Y-%m-%d}, audit {one.id}: caught {share(one.caught, one.caught + one.missed)}"


def _reduction(one: DayFigures) -> str:
    rate = "not known" if one.reduction is None else percent(one.reduction)
    return f"{one.day}: {rate} of the time left out by {_selections(one)}"


def _saving(one: DayFigures) -> str:
    return f"{one.day}: {duration(one.seconds_saved)} saved by {_selections(one)}"


def _selections(one: DayFigures) -> str:
    return f"{number(one.selections)} {'selection' if one.selections == 1 else 'selections'}"


def _label(what: str, figures: Sequence[Figure], form: Callable[[float], str]) -> str:
    """The text alternative: from when to when, between what, and how it stands; all of it is in the table below."""
    values = [one.value for one in figures if one.value is not None]
    if not values:
        return f"{what}: no value yet"
    span = f"{figures[0].day} to {figures[-1].day}"
    return f"{what}, {span}: between {form(min(values))} and {form(max(values))}, last {form(values[-1])}"


def _whole_percent(rate: float) -> str:
    return f"{100 * rate:.0f} %"


def _short_duration(seconds: float) -> str:
    """One unit, for the narrow side of an axis."""
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _day(one: DayFigures) -> date:
    return date.fromisoformat(one.day)


def _total(audits: Sequence[AuditFigures], name: Literal["broken", "caught", "missed"]) -> int:
    return sum(int(getattr(one, name)) for one in audits)
