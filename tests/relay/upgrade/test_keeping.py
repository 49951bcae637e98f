"""Upgrade reports on record: kept once, read back by duty, name and cause, on both databases."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from relay.errors import NotFoundError
from relay.store.engine import Store
from relay.upgrade.keeping import keep_report, read_publication, text_of
from relay.upgrade.listing import TestFilter, existing_upgrade, list_tests, list_upgrades, upgrade_view
from relay.upgrade.reading import ReportError, read_report
from relay.upgrade.views import DutyWord, UpgradeTestPage
from relay.upgrade.writing import report_json
from selector.upgrade.types import Duty, UpgradeReport
from tests.relay.upgrade_story import upgrade_report, upgrade_text

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
URL = "https://relay.example.org"


def keep(store: Store, text: bytes) -> tuple[int, bool]:
    with store.writing() as session:
        kept, repeated = keep_report(session, read_publication(text), "release duty", NOW)
        return kept.id, repeated


def listed(store: Store, upgrade: int, wanted: TestFilter, *, limit: int = 100, offset: int = 0) -> UpgradeTestPage:
    with store.reading() as session:
        return list_tests(session, upgrade, wanted, limit=limit, offset=offset)


def test_a_report_is_kept_whole_and_once(store: Store, report: UpgradeReport) -> None:
    text = report_json(report)
    number, repeated = keep(store, text)
    assert (keep(store, text), repeated) == ((number, True), False)
    with store.reading() as session:
        assert read_report(text_of(existing_upgrade(session, number, with_text=True))) == report
        about = upgrade_view(existing_upgrade(session, number), URL)
    assert about.upgrade.url == f"{URL}/upgrades/{number}"
    assert about.upgrade.duties == dict.fromkeys(DutyWord, 1)
    assert sum(about.upgrade.changes.values()) == len(report.difference.tests)
    assert [step.left for step in about.funnel] == [4_000, 1, 1]
    assert about.operators.changes[0].name == "nn.functional.max_pool2d"
    assert about.evidence[about.operators.changes[0].evidence[0]].symbol == "test_max"
    assert about.outcomes is not None
    assert about.notes == (*report.notes, *report.difference.notes)


def test_tests_are_found_by_duty_name_and_cause(store: Store) -> None:
    number, _ = keep(store, upgrade_text(240))
    whole = listed(store, number, TestFilter())
    assert whole.total == 80, "unchanged tests that ask for nothing have no row"
    must = listed(store, number, TestFilter(DutyWord.MUST))
    assert {test.duty for test in must.tests} == {DutyWord.MUST}
    assert sum(cause.tests for cause in must.causes) == must.total == len(must.tests)
    cause = must.causes[-1]
    narrowed = listed(store, number, TestFilter(DutyWord.MUST, cause=cause.cause))
    assert (narrowed.total, narrowed.causes) == (cause.tests, must.causes)
    assert {test.cause for test in narrowed.tests} == {cause.cause}
    named = listed(store, number, TestFilter(q="TEST_AREA_1.py"))
    assert {test.file for test in named.tests} == {"test/test_area_1.py"}
    assert listed(store, number, TestFilter(q="100%_")).total == 0


def test_pages_of_tests_hold_every_test_once(store: Store) -> None:
    number, _ = keep(store, upgrade_text(90))
    pages = [listed(store, number, TestFilter(), limit=13, offset=offset) for offset in range(0, 39, 13)]
    names = [test.test for page in pages for test in page.tests]
    assert len(names) == len(set(names)) == 30


def test_a_changed_test_without_a_finding_asks_for_nothing(store: Store, report: UpgradeReport) -> None:
    """It is listed and counted as such."""
    rest = dataclasses.replace(report, findings=tuple(it for it in report.findings if it.duty is not Duty.NEW))
    number, _ = keep(store, report_json(rest))
    silent = listed(store, number, TestFilter(DutyWord.NOTHING))
    assert [test.test for test in silent.tests] == ["test/nn/test_pad.py::TestPad::test_pad"]
    with store.reading() as session:
        counts = upgrade_view(existing_upgrade(session, number), URL).upgrade.duties
    assert (counts[DutyWord.NEW], counts[DutyWord.NOTHING]) == (0, 2)


def test_reports_are_listed_newest_first_and_by_pages(store: Store) -> None:
    ids = [keep(store, report_json(upgrade_report(6, head=f"v2.{minor}.0")))[0] for minor in (14, 15, 16)]
    with store.reading() as session:
        first, more = list_upgrades(session, URL, limit=2, before=None)
        rest, end = list_upgrades(session, URL, limit=2, before=more)
    assert [it.id for it in (*first.upgrades, *rest.upgrades)] == ids[::-1]
    assert end is None


def test_what_is_no_report_is_refused(store: Store) -> None:
    with pytest.raises(ReportError, match="there is no evidence 9"):
        read_publication(upgrade_text().replace(b'"evidence":[0]', b'"evidence":[999]', 1))
    with pytest.raises(NotFoundError), store.reading() as session:
        existing_upgrade(session, 7)
