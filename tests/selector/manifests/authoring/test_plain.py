"""What is written is read back as the same data, by the loader that manifests are read with."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from selector.manifests.authoring.plain import canonical, write_plain


@pytest.mark.parametrize("text", ["no", "on", "1e3", "1_000", "12:30:45", "2026-01-01", "~", "=", "<<", "a: b", "# x"])
def test_text_that_looks_like_something_else_stays_text(text: str) -> None:
    assert yaml.load(write_plain({"reason": text}), Loader=yaml.CSafeLoader) == {"reason": text}


@given(st.recursive(st.text() | st.integers() | st.booleans(), st.lists, max_leaves=8))
def test_whatever_it_is_it_comes_back(data: object) -> None:
    assert yaml.load(write_plain({"key": data}, "a comment\n\nin lines"), Loader=yaml.CSafeLoader) == {"key": data}


def test_equal_parts_are_written_out_and_lists_stand_below_their_key() -> None:
    part = ["x"]
    assert write_plain({"b": part, "a": part}) == "b:\n  - x\na:\n  - x\n"


def test_the_canonical_text_does_not_see_the_order_of_keys_but_the_kind_of_values() -> None:
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({"a": 1}) != canonical({"a": True}) != canonical({"a": "1"})
