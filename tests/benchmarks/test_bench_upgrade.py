"""The judge of the classifier counts what it should, and the labels it judges by are of its kinds."""

from __future__ import annotations

import json
from collections import Counter

from selector.types import BaseTest
from selector.upgrade.types import ChangedTest, TestChange, TestDifference
from tests.benchmarks.bench_upgrade import LABELS, Sample, read_samples, scored

FILE = "test/test_foo.py"


def test_a_wrong_class_a_wrong_new_name_and_a_test_that_is_not_there_are_told() -> None:
    difference = TestDifference(
        (
            ChangedTest(BaseTest(FILE, "TestFoo", "test_same"), (TestChange.UNCHANGED,)),
            ChangedTest(
                BaseTest(FILE, "TestFoo", "test_new"),
                (TestChange.RENAMED,),
                former=BaseTest(FILE, "TestFoo", "test_old"),
            ),
        ),
        1,
        1,
    )

    def first_line(name: str, label: TestChange, why: str = "") -> str:
        return next(scored(difference, [Sample(BaseTest(FILE, "TestFoo", name), label, "any", why)]))

    right, wrong = "1 of 1 labelled tests are told right", "0 of 1 labelled tests are told right"
    assert first_line("test_same", TestChange.UNCHANGED) == right
    assert first_line("test_same", TestChange.CODE) == wrong
    assert first_line("test_old", TestChange.RENAMED, "test_new") == right
    assert first_line("test_old", TestChange.RENAMED, "test_other") == wrong
    assert first_line("test_gone", TestChange.REMOVED) == wrong


def test_there_are_sixty_labels_and_no_class_is_left_out() -> None:
    samples = read_samples(json.loads(LABELS.read_text(encoding="utf-8")))
    assert len(samples) == 60
    assert set(Counter(sample.label for sample in samples)) == set(TestChange)
