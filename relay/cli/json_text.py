"""JSON as the command line writes it: one value a line, models included, nothing escaped that can be read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pydantic import BaseModel

Json: TypeAlias = "Mapping[str, object] | Sequence[object] | BaseModel | str | int | float | bool | None"


def to_json(value: object, *, encoding: str = "utf-8") -> str:
    """One line of JSON, escaped where `encoding` has not every character. Raises `TypeError` for what has no JSON
    form."""
    return json.dumps(value, default=_plain, ensure_ascii=not encoding.lower().replace("-", "").startswith("utf"))


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError(f"not JSON: {type(value).__name__}")
