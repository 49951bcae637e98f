"""An outline survives being kept, and bytes that are none are told apart."""

from __future__ import annotations

import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selector.catalog.outline import read_outline
from selector.catalog.record import RecordError, pack_names, pack_outline, unpack_names, unpack_outline
from tests.selector.catalog.sources import sources

PATH = "test/with space/test_a.py"


@settings(deadline=None)
@given(sources())
def test_an_outline_comes_back_as_it_was(text: str) -> None:
    outline = read_outline(PATH, text)
    assert unpack_outline(PATH, pack_outline(outline)) == outline


@settings(deadline=None)
@given(st.text())
def test_so_does_that_of_any_text(text: str) -> None:
    outline = read_outline(PATH, text)
    assert unpack_outline(PATH, pack_outline(outline)) == outline


def test_a_name_from_a_folder_with_a_blank_stays_one_name() -> None:
    outline = read_outline(PATH, "from .base import TestBase\n")
    assert unpack_outline(PATH, pack_outline(outline)).imports == {
        "test.with space.base",
        "test.with space.base.TestBase",
    }


def test_the_order_of_tests_is_kept() -> None:
    outline = read_outline(PATH, "def test_b(): pass\ndef test_a(): pass\n")
    assert list(unpack_outline(PATH, pack_outline(outline)).functions) == ["test_b", "test_a"]


@pytest.mark.parametrize(
    "fields",
    [{}, [], "text", {"words": 1}, {"words": [], "imports": [7]}, {"words": None, "imports": []}],
    ids=str,
)
def test_values_that_are_no_outline_are_refused(fields: object) -> None:
    record = zlib.compress(json.dumps(fields).encode())
    with pytest.raises(RecordError):
        unpack_outline(PATH, record)
    with pytest.raises(RecordError):
        unpack_names(record)


@given(st.binary())
def test_any_bytes_are_refused_by_one_error(record: bytes) -> None:
    with pytest.raises(RecordError):
        unpack_outline(PATH, record)


@given(st.frozensets(st.text()))
def test_names_come_back(names: frozenset[str]) -> None:
    assert unpack_names(pack_names(names)) == names


def test_a_list_of_other_things_is_no_list_of_names() -> None:
    with pytest.raises(RecordError):
        unpack_names(zlib.compress(json.dumps({"names": ["a", 1]}).encode()))
