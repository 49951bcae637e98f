"""The JSON form of an upgrade report holds all of it, and takes nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from relay.upgrade.reading import REPORT_CAP, ReportError, read_report
from relay.upgrade.writing import report_json
from selector.types import BaseTest
from selector.upgrade.types import ChangedTest, TestChange, TestDifference, UpgradeReport


def test_a_report_is_the_same_after_it_was_written_and_read(report: UpgradeReport) -> None:
    assert read_report(report_json(report)) == report


def test_evidence_that_tests_share_is_written_once(report: UpgradeReport) -> None:
    assert report_json(report).count(b"make_input draws from another range") == 1


def test_what_is_as_usual_takes_no_room(report: UpgradeReport) -> None:
    """A report on PyTorch names tens of thousands of tests of which nothing is to be said."""
    test = json.loads(report_json(report))["tests"][1]
    assert test == {"file": "test/test_nn.py", "name": "test_alone"}


def test_text_that_no_database_takes_is_made_such(report: UpgradeReport) -> None:
    odd = ChangedTest(BaseTest("test/\udcff.py", "", "test_\0" + "a" * 10_000), (TestChange.ADDED,))
    read = read_report(report_json(replace(report, findings=(), difference=TestDifference((odd,), 1, 1))))
    assert read.difference.tests[0].test.file == "test/?.py"
    assert "\0" not in read.difference.tests[0].test.name
    assert len(read.difference.tests[0].test.name) == 1_000


def _broken(document: dict[str, Any], key: str, value: object) -> bytes:
    *path, last = key.split(".")
    part: Any = document
    for name in path:
        part = part[int(name) if name.isdigit() else name]
    part[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("version", 2, "version: Input should be 1"),
        ("format", "junit", "format: Input should be 'oot-relay/upgrade-report'"),
        ("findings.0.test", 4, "there is no test 4, the list has 4"),
        ("tests.3.evidence", [9], "there is no evidence 9, the list has 2"),
        ("findings.0.duty", "later", "findings.0.duty: Input should be 'must assess'"),
        ("tests.3.changes", [], "tests.3.changes: Tuple should have at least 1 item"),
        ("tests.0.confidence", 7, "tests.0.confidence: Input should be less than or equal to 1"),
        ("origin.repository", "javascript:alert(1)", "origin.repository: String should match pattern"),
        ("surprise", 1, "surprise: Extra inputs are not permitted"),
        ("files_before", -1, "files_before: Input should be greater than or equal to 0"),
    ],
)
def test_what_is_no_report_is_refused_with_the_place(report: UpgradeReport, key: str, value: object, said: str) -> None:
    with pytest.raises(ReportError) as caught:
        read_report(_broken(json.loads(report_json(report)), key, value))
    assert str(caught.value).startswith(said)


def test_what_is_no_json_or_too_large_is_refused() -> None:
    with pytest.raises(ReportError, match="the whole: Invalid JSON"):
        read_report("{")
    with pytest.raises(ReportError, match="larger than 32 MiB"):
        read_report(b" " * (REPORT_CAP + 1))
