"""The parameters of a query, as a reader sends them: numbers come as JSON numbers or as text, lists as either.

Owns reading and bounds. Unknown parameters are ignored, as the original does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay.hud.errors import HudError

_LARGEST = 2**63 - 1
_TEXT_CAP = 300
_LIST_CAP = 500


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number within bounds. Without a default it must be sent."""

    most: int = _LARGEST
    least: int = 0
    default: int | None = None

    def read(self, name: str, value: object) -> int | None:
        """The number; more than the most is the most, for that only shortens a list.

        Raises:
            HudError: 400, it is absent or no such number.
        """
        if value is None and self.default is not None:
            return self.default
        number = _whole(value)
        if number is None or number < self.least:
            raise HudError(400, f"Parameter {name} must be a whole number, {self.least} or more")
        return min(number, self.most)


@dataclass(frozen=True, slots=True)
class Text:
    """A short text. Without a default it must be sent."""

    default: str | None = None

    def read(self, name: str, value: object) -> str:
        """The text.

        Raises:
            HudError: 400, it is absent or no text.
        """
        if value is None and self.default is not None:
            return self.default
        if not isinstance(value, str) or not 0 < len(value) <= _TEXT_CAP or not value.isprintable():
            raise HudError(400, f"Parameter {name} must be a text of at most {_TEXT_CAP} characters")
        return value


@dataclass(frozen=True, slots=True)
class Numbers:
    """A list of whole numbers, of which the first ones are taken."""

    def read(self, name: str, value: object) -> tuple[int, ...]:
        """The numbers.

        Raises:
            HudError: 400, it is no such list.
        """
        given = _parsed(value) if isinstance(value, str) else value
        numbers = [_whole(one) for one in given] if isinstance(given, list) else [None]
        if None in numbers:
            raise HudError(400, f"Parameter {name} must be a list of whole numbers")
        return tuple(number for number in numbers if number is not None)[:_LIST_CAP]


Parameter = Number | Text | Numbers


def read_parameters(declared: Mapping[str, Parameter], sent: str) -> dict[str, Any]:
    """The declared parameters out of the JSON object that was sent.

    Raises:
        HudError: 400, it is no such object or a parameter in it is wrong.
    """
    given = _parsed(sent)
    if not isinstance(given, dict):
        raise HudError(400, "parameters must be a JSON object")
    return {name: parameter.read(name, given.get(name)) for name, parameter in declared.items()}


def _parsed(sent: str) -> object:
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return None


def _whole(value: object) -> int | None:
    """A number that a database column can be compared with."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    return value if isinstance(value, int) and abs(value) <= _LARGEST else None
