"""Findings as people go through them: what settles most first, and counts by file and by entry."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from relay.upgrade.grouping import causes_of, changes_by_file, entries_of, notes_of, with_duty
from selector.types import Mode
from selector.upgrade.types import Duty, Finding, TestChange, UpgradeReport


def test_what_settles_most_comes_first_and_has_the_evidence_about_it(report: UpgradeReport) -> None:
    must, should = report.findings[:2]
    causes = causes_of([replace(must, cause="pooling"), must, should, replace(should, cause="")])
    assert [(it.name, len(it.findings)) for it in causes] == [("make_input", 2), ("pooling", 1), ("test/test_nn.py", 1)]
    assert [it.symbol for it in causes[0].evidence] == ["make_input"]
    assert [it.symbol for it in causes[1].evidence] == ["test_max"]


def test_files_in_which_nothing_happened_are_counted_in_the_whole_only(report: UpgradeReport) -> None:
    tests = report.difference.tests
    unchanged = replace(tests[1], test=replace(tests[1].test, file="test/other.py"))
    difference = replace(report.difference, tests=(*tests, unchanged))
    counts = dict(changes_by_file(replace(report, difference=difference)))
    assert counts[""] == Counter(
        {TestChange.UNCHANGED: 2, TestChange.MOVED: 1, TestChange.HELPER: 1, TestChange.BODY: 1}
    )
    assert sorted(counts) == ["", "test/nn/test_pad.py", "test/test_nn.py"]


def test_entries_with_most_that_must_be_assessed_come_first(report: UpgradeReport) -> None:
    must, should = report.findings[:2]
    (other,) = (replace(governed, provenance="a.yaml:1", mode=Mode.XFAIL) for governed in should.governed)
    found: tuple[Finding, ...] = (replace(should, governed=(other,)), must, should)
    assert [(it.provenance, it.mode, it.duties) for it in entries_of(replace(report, findings=found))] == [
        ("nn.yaml:7", Mode.MANDATORY_SUCCESS, Counter({Duty.MUST: 1, Duty.SHOULD: 1})),
        ("a.yaml:1", Mode.XFAIL, Counter({Duty.SHOULD: 1})),
    ]


def test_findings_of_a_duty_keep_their_order_and_notes_are_told_once(report: UpgradeReport) -> None:
    assert [str(it.changed.test) for it in with_duty(report, Duty.NEW)] == ["test/nn/test_pad.py::TestPad::test_pad"]
    again = replace(report, notes=(*report.notes, *report.difference.notes))
    assert notes_of(again) == ("no manifest names test/nn/test_pad.py", "test/odd.py does not parse")
