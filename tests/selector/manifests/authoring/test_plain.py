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


#: Every character of which YAML, PyYAML or Python's `splitlines` thinks something special.
_ODD = [
    *(chr(code) for code in (*range(0x20), *range(0x7F, 0xA1), 0xAD)),
    *("\u200b", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\U0001f600", "\U0010ffff"),
]


@pytest.mark.parametrize("odd", _ODD, ids=ascii)
@pytest.mark.parametrize(
    "pattern", ["{}", "{0}{0}", "a{}b", "{}b", "a{}", "a {} b", "a\n{}b", "- {}", "'{}\"", "{}: {}"]
)
def test_no_odd_character_changes_on_the_way(odd: str, pattern: str) -> None:
    """As a value, as a key and in the comment; the canonical text too tells it from its neighbours."""
    text = pattern.format(odd, odd)
    written = write_plain({text: [text]}, f"comment {text} goes on")
    assert yaml.load(written, Loader=yaml.CSafeLoader) == {text: [text]}
    assert yaml.load(canonical({text: [text]}), Loader=yaml.CSafeLoader) == {text: [text]}


@given(st.text(st.sampled_from([*_ODD, "a", " ", "\n", ":", "#", "'", '"']), max_size=30), st.text())
def test_odd_characters_come_back_in_any_company(text: str, comment: str) -> None:
    assert yaml.load(write_plain([text], comment), Loader=yaml.CSafeLoader) == [text]


def test_half_a_surrogate_pair_is_replaced_because_yaml_has_no_form_for_it() -> None:
    written = write_plain(["a\ud800b", "\udfff"], "comment \udc00")
    assert yaml.load(written.encode(), Loader=yaml.CSafeLoader) == ["a\ufffdb", "\ufffd"]


def test_equal_parts_are_written_out_and_lists_stand_below_their_key() -> None:
    part = ["x"]
    assert write_plain({"b": part, "a": part}) == "b:\n  - x\na:\n  - x\n"


def test_the_canonical_text_does_not_see_the_order_of_keys_but_the_kind_of_values() -> None:
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({"a": 1}) != canonical({"a": True}) != canonical({"a": "1"})
