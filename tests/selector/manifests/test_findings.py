"""Findings print as editors jump to them, and never carry more of a manifest than a reader needs."""

from __future__ import annotations

import pytest

from selector.manifests.findings import Finding, ManifestError, Severity, did_you_mean, shown


def test_a_finding_prints_as_file_line_column_and_message() -> None:
    assert str(Finding("a.yaml", 3, 7, Severity.ERROR, "no")) == "a.yaml:3:7: no"
    assert str(Finding("a.yaml", 3, 7, Severity.WARNING, "odd")) == "a.yaml:3:7: warning: odd"


def test_the_findings_of_an_error_are_in_order_of_place() -> None:
    places = [("b", 1, 1), ("a", 9, 1), ("a", 2, 5), ("a", 2, 4)]
    error = ManifestError(Finding(*place, Severity.ERROR, "no") for place in places)
    assert [str(finding) for finding in error.findings] == ["a:2:4: no", "a:2:5: no", "a:9:1: no", "b:1:1: no"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "null"), (True, "true"), (3, "3"), ("a\x1b[0m", r"'a\x1b[0m'"), ({}, "a mapping"), ([], "a list")],
)
def test_values_are_shown_as_yaml_words_and_escaped(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 1_000_000)) < 70


def test_a_near_word_is_offered_and_a_far_one_is_not() -> None:
    assert did_you_mean("labls", ["labels", "names"]) == " (did you mean `labels`?)"
    assert did_you_mean("selectors", ["labels", "names"]) == ""
