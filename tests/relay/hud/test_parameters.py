"""Parameters of a query, as different readers write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relay.hud.errors import HudError
from relay.hud.parameters import Number, Numbers, Parameter, Text, read_parameters

_DECLARED: dict[str, Parameter] = {
    "days": Number(most=30, least=1),
    "offset": Number(default=0),
    "repo": Text(),
    "event": Text(default="nightly"),
    "prNums": Numbers(),
}
_GOOD: dict[str, Any] = {"days": 7, "repo": "a/b", "prNums": [1]}


def _read(**changes: Any) -> dict[str, Any]:
    return read_parameters(_DECLARED, json.dumps(_GOOD | changes))


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"days": "7"}, {"days": 7}),
        ({"days": 90}, {"days": 30}),
        ({"offset": "5"}, {"offset": 5}),
        ({}, {"offset": 0, "event": "nightly"}),
        ({"event": None}, {"event": "nightly"}),
        ({"prNums": "[1, 2]"}, {"prNums": (1, 2)}),
        ({"prNums": ["1", -2]}, {"prNums": (1, -2)}),
        ({"prNums": []}, {"prNums": ()}),
        ({"prNums": list(range(2_000))}, {"prNums": tuple(range(500))}),
        ({"unknown": {}}, {}),
    ],
)
def test_numbers_and_lists_may_be_text(sent: dict[str, Any], read: dict[str, Any]) -> None:
    found = _read(**sent)
    assert read.items() <= found.items()
    assert found.keys() == _DECLARED.keys()


_WRONG: dict[str, tuple[Any, ...]] = {
    "days": (None, 0, -1, "x", "", 1.5, True, [], "9" * 40, 2**70, "\u0661"),
    "repo": (None, "", 7, "a" * 301, "a\nb", "a\x00"),
    "prNums": (None, 7, "7", "[", [None], [1.5], ["x"], [2**70], {"1": 1}),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in _WRONG.items() for value in values])
def test_what_is_no_such_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(HudError, match=name) as refused:
        _read(**{name: value})
    assert refused.value.status == 400


@pytest.mark.parametrize("sent", ["", "[]", "7", "{", "[" * 100_000])
def test_parameters_are_a_json_object(sent: str) -> None:
    with pytest.raises(HudError, match="JSON object"):
        read_parameters(_DECLARED, sent)
