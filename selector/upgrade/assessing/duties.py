"""What a device's team has to do about each test that an upgrade changes: the rules, and the reason for people.

Must: a name of the manifests governs the test and the test is another. Should: a test is held to an outcome and what it
is about changed. What takes any outcome, or is never run, asks for less. Counts nothing and groups nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selector.types import BaseTest, Mode
from selector.upgrade.assessing.governing import CERTAIN, Governing, Ruling
from selector.upgrade.assessing.marking import compare_marks, runs_elsewhere_only
from selector.upgrade.assessing.side import Side
from selector.upgrade.assessing.suggesting import Suggesting
from selector.upgrade.types import ChangedTest, Duty, OpInfoAspect, OpInfoDifference, TestChange

_WHAT = {
    TestChange.REMOVED: "upstream removed it",
    TestChange.MOVED: "it stands elsewhere now",
    TestChange.RENAMED: "it has another name now",
    TestChange.BODY: "its body is another",
    TestChange.DECORATORS: "its decorators are others",
    TestChange.HELPER: "something of the test tree that it uses is another",
    TestChange.CODE: "what it is about changed",
}
_OF_NAMES = frozenset({TestChange.REMOVED, TestChange.MOVED, TestChange.RENAMED})
_SHOWN_OPERATORS = 5
_SHOWN_SYMBOLS = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """A duty and why. `change` is what the duty comes from, which may be less than all that changed; `operators` are
    those whose entries it comes from."""

    duty: Duty
    reason: str
    change: TestChange = TestChange.UNCHANGED
    suggested: Mode | None = None
    operators: tuple[str, ...] = ()


def without_variants(verdict: Verdict) -> Verdict:
    """What is to be done about a test of which nothing runs on the device, before or after. A name that upstream took
    away or changed has to be written otherwise all the same."""
    if verdict.duty not in (Duty.MUST, Duty.SHOULD) or verdict.change in _OF_NAMES:
        return verdict
    return Verdict(Duty.NOTHING, f"no variant of it runs on the device; {verdict.reason}", verdict.change)


class Duties:
    """The rules, and what they look into."""

    def __init__(self, governing: Governing, base: Side, head: Side, operators: OpInfoDifference, device: str) -> None:
        self._base, self._head = base, head
        self._device = device
        self._governing = governing
        self._suggesting = Suggesting(governing, head.catalog)
        self._operators: Mapping[str, str] = dict(_that_a_device_sees(operators))

    def verdict(self, changed: ChangedTest) -> Verdict | None:
        """What is to be done about a test. None: it is in no manifest and nothing of the device's team's."""
        ruling = self._governing.ruling_of(changed)
        if changed.change is TestChange.ADDED or self._came_in(changed):
            return self._new(changed, ruling)
        return self._known(changed, ruling) if ruling.is_listed else None

    def _came_in(self, changed: ChangedTest) -> bool:
        """Whether a test moved from a file that no manifest lists to one that some does: it is new to the manifests."""
        before = self._governing.ruling(changed.former) if changed.former is not None else None
        return before is not None and not before.is_listed and self._governing.ruling(changed.test).is_listed

    def _new(self, changed: ChangedTest, ruling: Ruling) -> Verdict | None:
        test, new = changed.test, "new"
        if changed.former is not None:
            new = f"it came in from {changed.former.file}"
        if ruling.names:
            duty, what = (Duty.MUST, "governed") if ruling.runs else (Duty.NOTHING, "skipped")
            return Verdict(duty, f"{new}, and {what} already; {ruling.said}", TestChange.ADDED)
        entry = self._head.tests.get(test)
        if entry is not None and runs_elsewhere_only(entry):
            reason = f"{new}, and kept to upstream's own devices"
            return Verdict(Duty.NOTHING, reason, TestChange.ADDED) if ruling.is_listed else None
        if ruling.rules is not None:
            mode, why = self._suggesting.suggest(test)
            return Verdict(Duty.NEW, f"{new}, and no entry names it; {ruling.said}; {why}", TestChange.ADDED, mode)
        return self._unlisted(test, ruling) if self._head.is_generic(test, self._device) else None

    def _unlisted(self, test: BaseTest, ruling: Ruling) -> Verdict | None:
        """About a new test for every device. A file that was there before and is in no manifest was left out by whoever
        wrote them."""
        if ruling.is_assumed:
            return Verdict(Duty.NEW, "it is new and made for every device", TestChange.ADDED)
        if test.file in self._base.catalog.files:
            return None
        reason = "its file is new, makes tests for every device, and is in no manifest"
        return Verdict(Duty.NEW, reason, TestChange.ADDED, Mode.SKIP)

    def _known(self, changed: ChangedTest, ruling: Ruling) -> Verdict:
        said = f"; {ruling.said}" if ruling.said else ""
        if not ruling.names and not ruling.is_binding:
            return Verdict(Duty.NOTHING, f"no entry names it{said}", changed.change)
        change = self._strongest_seen(changed)
        if change is TestChange.UNCHANGED or (change is TestChange.CODE and not ruling.is_binding):
            return self._by_operators(changed, ruling, said)
        what = f"{_WHAT[change]}{_named(changed, change)}"
        if why := self._why_nothing(changed, change, ruling):
            return Verdict(Duty.NOTHING, f"{what}, {why}{said}", change)
        duty = Duty.SHOULD if change is TestChange.CODE else Duty.MUST
        return Verdict(duty, f"{what}{said}", change)

    def _why_nothing(self, changed: ChangedTest, change: TestChange, ruling: Ruling) -> str:
        """Why a change that the device can see asks for nothing, empty when it asks for something."""
        if change is TestChange.HELPER and not ruling.runs:
            return "and it is not run"
        if change is TestChange.MOVED and self._is_followed(changed, ruling):
            return "where the same entry governs it"
        return ""

    def _is_followed(self, changed: ChangedTest, ruling: Ruling) -> bool:
        """Whether the test alone moved, for certain, and to where the names that govern it mean it as well."""
        after = self._governing.ruling(changed.test)
        same = bool(ruling.names) and [name.text for name in ruling.names] == [name.text for name in after.names]
        means_it = all(name.is_for_class(changed.test.cls) for name in after.names)
        return changed.changes == (TestChange.MOVED,) and changed.confidence >= CERTAIN and same and means_it

    def _strongest_seen(self, changed: ChangedTest) -> TestChange:
        """The strongest change that a device out of the tree can see."""
        for change in changed.changes:
            if change is not TestChange.DECORATORS or self._sees_decorators(changed):
                return change
        return TestChange.UNCHANGED

    def _sees_decorators(self, changed: ChangedTest) -> bool:
        before, after = self._base.tests.get(changed.former or changed.test), self._head.tests.get(changed.test)
        if before is None or after is None:
            return True
        marking = compare_marks(before, after)
        return not marking.all or bool(marking.seen)

    def _by_operators(self, changed: ChangedTest, ruling: Ruling, said: str) -> Verdict:
        """What comes of the entries of operators that a test runs over, where nothing else does."""
        nothing = _WHAT.get(changed.change, "nothing of it changed")
        if changed.change is TestChange.DECORATORS:
            nothing = "only decorators changed that the device does not see"
        if not ruling.is_binding:
            outcome = "it may fail or pass" if ruling.runs else "it is not run"
            return Verdict(Duty.NOTHING, f"{nothing}, and {outcome}{said}", changed.change)
        entry = self._head.tests.get(changed.test)
        generated = self._head.operators_of(entry) if entry is not None and self._operators else None
        found = tuple(name for name in generated or () if name in self._operators and _is_let_through(name, ruling))
        if not found:
            return Verdict(Duty.NOTHING, f"{nothing}{said}", changed.change)
        rest = f" and {len(found) - _SHOWN_OPERATORS} more" if len(found) > _SHOWN_OPERATORS else ""
        shown = ", ".join(f"{name} ({self._operators[name]})" for name in found[:_SHOWN_OPERATORS])
        reason = f"entries of operators that it runs over are others: {shown}{rest}{said}"
        return Verdict(Duty.SHOULD, reason, changed.change, operators=found)


def _named(changed: ChangedTest, change: TestChange) -> str:
    """What of its surroundings changed, by name; nothing for the test itself."""
    if change not in (TestChange.HELPER, TestChange.CODE):
        return ""
    symbols = list(dict.fromkeys(found.symbol for found in changed.evidence if found.kind is change))
    rest = f" and {len(symbols) - _SHOWN_SYMBOLS} more" if len(symbols) > _SHOWN_SYMBOLS else ""
    return f" ({', '.join(symbols[:_SHOWN_SYMBOLS])}{rest})" if symbols else ""


def _that_a_device_sees(operators: OpInfoDifference) -> Iterator[tuple[str, str]]:
    """Operators whose entries are others for a device that is none of upstream's, with what of them is."""
    for change in operators.changes:
        aspects = [aspect for aspect in change.aspects if aspect is not OpInfoAspect.ELSEWHERE]
        if change.change is not TestChange.BODY:
            yield change.name, change.change.value
        elif aspects:
            yield change.name, ", ".join(aspects)


def _is_let_through(name: str, ruling: Ruling) -> bool:
    """Whether the operators that the device has are not listed, or this one is among them."""
    listed = ruling.rules.device.ops if ruling.rules is not None else None
    return listed is None or name in listed or name.partition(".")[0] in listed
