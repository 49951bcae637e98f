"""The JSON of a callback: read so that whatever is taken can be written down again, and the refusal of all else.

Pure. What the JSON means is `relay.crcr.callback`'s.
"""

from __future__ import annotations

import json

from relay.crcr.callback import CallbackRefusedError

#: GitHub's own payloads are less than a dozen deep. What is deeper cannot be counted on to be written down again: that
#: needs as much stack as reading it, and is done further down.
_DEPTH_CAP = 64
#: What a database's column, and most other readers of JSON, hold.
_LARGEST = 2**63 - 1


def decode(raw: bytes) -> object:
    """The JSON value of a request's body; an empty one stands for an empty object.

    Raises:
        CallbackRefusedError: 400, it is not JSON that could be written down again.
    """
    try:
        value = json.loads(raw or b"{}", parse_constant=_no_number, parse_float=_finite, parse_int=_storable)
    except (ValueError, RecursionError) as error:
        raise CallbackRefusedError(400, "Invalid JSON body") from error
    if _deeper_than(value, _DEPTH_CAP):
        raise CallbackRefusedError(400, f"Invalid JSON body: it is nested deeper than {_DEPTH_CAP} levels")
    return value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    """A number; one beyond all bounds would be written down as a word that is not JSON."""
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return number


def _storable(text: str) -> int:
    """A whole number of a size that whoever it is handed on to can read."""
    number = int(text)
    if abs(number) > _LARGEST:
        raise ValueError("a number is out of range")
    return number


def _deeper_than(value: object, cap: int) -> bool:
    level = [value]
    for _ in range(cap + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
