"""JUnit files as pytest writes them become observations; hostile ones become one sentence."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from selector.manifests.authoring.junit import read_junit
from selector.manifests.authoring.results import Naming, Observation, ObservedTest, ResultsError, no_source_names

SUITE = '<testsuite timestamp="2026-08-01T10:00:00+00:00" hostname="lab1">%s</testsuite>'
REAL = """
import unittest, pytest
class TestThingsSPYRE(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertEqual(1, 2)
    @pytest.mark.xfail
    def test_known(self): self.assertEqual(1, 2)
    @pytest.mark.xfail(strict=True)
    def test_strict(self): pass
    @pytest.mark.xfail
    def test_loose(self): pass
    @unittest.skip("not here")
    def test_skips(self): pass
    def setUp(self):
        if self._testMethodName == "test_setup": raise RuntimeError("no device")
    def test_setup(self): pass
"""


def read(text: str) -> list[ObservedTest]:
    return list(read_junit("r.xml", text.encode(), Naming("spyre", no_source_names)))


def one(inside: str, attributes: str = 'classname="test_a.TestFooSPYRE" name="test_x_spyre"') -> ObservedTest:
    (found,) = read(SUITE % f"<testcase {attributes}>{inside}</testcase>")
    return found


def test_what_pytest_writes_is_read_as_what_happened(tmp_path: Path) -> None:
    (tmp_path / "test_real.py").write_text(REAL)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=r.xml", "test_real.py"]
    subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=120)
    seen = {found.base: found for found in read((tmp_path / "r.xml").read_text())}
    assert {name: found.observation.value for name, found in seen.items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_known": "failed",
        "test_strict": "passed",
        "test_loose": "passed",
        "test_skips": "skipped",
        "test_setup": "failed",
    }
    assert seen["test_fails"].id == "test/test_real.py::TestThingsSPYRE::test_fails"
    assert seen["test_fails"].detail == "AssertionError: 1 != 2"
    assert seen["test_fails"].at is not None
    assert seen["test_fails"].machine


def test_run_date_and_machine_come_from_the_suite() -> None:
    found = one("")
    assert (found.at, found.machine) == (datetime(2026, 8, 1, 10, tzinfo=UTC), "lab1")
    assert found.run == "r.xml 2026-08-01T10:00:00+00:00"


@pytest.mark.parametrize(
    ("inside", "observation"),
    [
        ("<error message=\"worker 'gw0' crashed while running\"/>", Observation.CRASHED),
        ('<failure message="Failed: Timeout (&gt;60.0s) from pytest-timeout."/>', Observation.TIMED_OUT),
        ('<properties><property name="observation" value="crashed"/></properties><error/>', Observation.CRASHED),
        ('<properties><property name="observation" value="odd"/></properties>', Observation.PASSED),
    ],
)
def test_ends_that_pytest_has_no_word_for(inside: str, observation: Observation) -> None:
    assert one(inside).observation is observation


@pytest.mark.parametrize(
    ("attributes", "file"),
    [
        ('classname="test_a.T" name="t"', "test/test_a.py"),
        ('classname="test.inductor.test_a.T" name="t"', "test/inductor/test_a.py"),
        ('classname="test_a" name="t"', "test/test_a.py"),
        ('classname="test_a__oot_wrapper.T" name="t"', "test/test_a.py"),
        ('classname="x.T" name="t" file="inductor/test_a.py"', "test/inductor/test_a.py"),
        ('classname="test_a.T" name="t" file="../../etc/passwd"', "test/test_a.py"),
        ('classname="test_a.T" name="t" file="/etc/passwd"', "test/test_a.py"),
    ],
)
def test_the_file_is_named_from_the_root_of_the_upstream_tree(attributes: str, file: str) -> None:
    assert one("", attributes).file == file


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<testsuite><testcase>", "r.xml is not well-formed XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite>&a;</testsuite>', "r.xml declares a document type or entities"),
        ("<!DOCTYPE x><testsuite/>", "r.xml declares a document type or entities"),
        ('<!DOCTYPE x SYSTEM "http://127.0.0.1:1/x"><testsuite/>', "r.xml declares a document type or entities"),
    ],
)
def test_a_file_that_can_not_be_trusted_or_read_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ResultsError, match=sentence):
        read(text)


def test_a_long_message_is_cut() -> None:
    assert len(one(f'<failure message="{"x" * 10_000}"/>').detail) == 500
