"""What comes out of an answer is flat, short and can be sent back."""

from __future__ import annotations

import json

import pytest

from selector.triage.untrusted import TEXT_CAP, arguments_of, clean_text, tokens


@pytest.mark.parametrize(
    "value",
    [
        *("", "nonsense", "[1]", "{", "[" * 100_000, None, 3, []),
        {"a": [1]},
        {"a": {"b": 1}},
        {"a": 1.5},
        {"a": float("nan")},
        {"a": 1 << 70},
        {"a": "x" * (TEXT_CAP + 1)},
        {str(number): 1 for number in range(11)},
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_other_arguments_are_none(value: object) -> None:
    assert arguments_of(value) is None


def test_arguments_come_as_text_or_as_an_object() -> None:
    assert arguments_of('{"a": "b", "n": 3, "none": null}') == arguments_of({"a": "b", "n": 3}) == {"a": "b", "n": 3}


def test_text_that_cannot_be_sent_is_replaced() -> None:
    assert clean_text("a\ud800b") == "a?b"
    assert clean_text(3) is None
    broken = arguments_of('{"\\ud800": "\\udfff"}')
    assert json.dumps(broken, ensure_ascii=False).encode() == b'{"?": "?"}'


@pytest.mark.parametrize("count", [-1, True, "5", None, 1.5])
def test_a_count_that_is_none_is_nothing(count: object) -> None:
    assert tokens({"n": count}, "n") == 0
    assert tokens([count], "n") == 0
    assert tokens({"n": 7}, "n") == 7
