"""Candidates of a base method: exact names first, then patterns, each in file order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selector.manifests import ManifestSet
from selector.manifests.rules import OpRules

TESTS = """
- names: [T::test_flip.*]
  mode: skip
- names: [Other::test_flip, test_flip_all, 'T::test_(pad|roll)']
  mode: xfail
- names: ['T::test_roll.?']
- names: [T::test_zip$]
"""


@pytest.mark.parametrize(
    ("base", "lines"),
    [
        ("test_flip", [9, 7]),
        ("test_flip_all", [9, 7]),
        ("test_flip_some", [7]),
        ("test_pad", [9]),
        ("test_pads", []),
        ("test_roll", [9, 11]),
        ("test_rolls", [11]),
        ("test_zip", [12]),
        ("a_test_flip", []),
    ],
)
def test_exact_names_come_before_patterns_and_patterns_match_in_full(
    load_entries: Callable[..., ManifestSet], base: str, lines: list[int]
) -> None:
    rules = load_entries(TESTS).rules("test/test_things.py")
    assert rules is not None
    assert [entry.provenance for entry in rules.candidates(base)] == [f"m.yaml:{line}" for line in lines]


def test_an_operator_named_twice_keeps_its_last_mention(load_entries: Callable[..., ManifestSet]) -> None:
    supported = "supported_ops: [{name: add, force_xfail: true}, add]"
    rules = load_entries("[]", supported).rules("test/test_things.py")
    assert rules is not None
    assert rules.device.xfail_ops == frozenset()
    assert rules.device.ops == {"add": OpRules("m.yaml:9", frozenset(), None)}
    assert rules.device.ceiling is None
